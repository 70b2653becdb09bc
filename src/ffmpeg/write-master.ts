import { PLAYLIST } from "./media-playlist.ts";

export interface Bitrates {
  /** Of the segment with the highest rate. */
  peak: number;
  average: number;
}

export interface MasterStream {
  /** Path of its media playlist, relative to the master playlist. */
  uri: string;
  /** Its codecs as in RFC 6381, without those of separate sound. */
  codecs: string;
  width?: number | undefined;
  height?: number | undefined;
  rate: Bitrates;
}

export interface MasterFacts {
  streams: readonly MasterStream[];
  /** The sound that all streams share, when it is separate from the pictures. */
  audio: { folder: string; codecs: string; channels: number; rate: Bitrates } | null;
  /** Frames per second; undefined when unknown. */
  fps: number | undefined;
}

/** Writes an HLS master playlist (RFC 8216, 4.3.4) with measured bitrates, the best stream first. */
export function writeMaster({ streams, audio, fps }: MasterFacts): string {
  const sound = audio?.rate ?? { peak: 0, average: 0 };
  const variants = streams
    .toSorted((a, b) => b.rate.peak - a.rate.peak)
    .flatMap(({ uri, codecs, width, height, rate }) => {
      const attributes = [
        `BANDWIDTH=${Math.ceil(rate.peak + sound.peak)}`,
        `AVERAGE-BANDWIDTH=${Math.ceil(rate.average + sound.average)}`,
        `CODECS="${[codecs, ...(audio ? [audio.codecs] : [])].join(",")}"`,
        ...(width && height ? [`RESOLUTION=${width}x${height}`] : []),
        ...(width && fps ? [`FRAME-RATE=${fps.toFixed(3)}`] : []),
        ...(audio ? ['AUDIO="audio"'] : []),
      ];
      return [`#EXT-X-STREAM-INF:${attributes.join(",")}`, uri];
    });
  const group = audio
    ? [
        `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="${audio.channels}",URI="${audio.folder}/${PLAYLIST}"`,
      ]
    : [];
  return ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS", ...group, ...variants, ""].join("\n");
}

/** Measures a stream's bitrates from the durations in seconds and sizes in bytes of its segments. */
export function measureStream(segments: readonly { seconds: number; size: number }[]): Bitrates {
  const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0);
  const bits = segments.reduce((sum, segment) => sum + segment.size * 8, 0);
  const peak = Math.max(0, ...segments.map((segment) => (segment.size * 8) / segment.seconds));
  return { peak, average: seconds > 0 ? bits / seconds : 0 };
}
