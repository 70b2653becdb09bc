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
  /** The I-frame playlists of the streams, with the rates of their ranges; absent where there are none. */
  i_frames?: readonly MasterStream[] | undefined;
}

/** Writes an HLS master playlist (RFC 8216, 4.3.4) with measured bitrates, the best stream first. */
export function writeMaster({ streams, audio, fps, i_frames = [] }: MasterFacts): string {
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
  const shown = i_frames
    .toSorted((a, b) => b.rate.peak - a.rate.peak)
    .map(({ uri, codecs, width, height, rate }) => {
      const size = width && height ? `,RESOLUTION=${width}x${height}` : "";
      return `#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=${Math.ceil(rate.peak)},AVERAGE-BANDWIDTH=${Math.ceil(rate.average)},CODECS="${codecs}"${size},URI="${uri}"`;
    });
  const group = audio
    ? [
        `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="${audio.channels}",URI="${audio.folder}/${PLAYLIST}"`,
      ]
    : [];
  return [
    "#EXTM3U",
    "#EXT-X-VERSION:7",
    "#EXT-X-INDEPENDENT-SEGMENTS",
    ...group,
    ...variants,
    ...shown,
    "",
  ].join("\n");
}

/** Measures a stream's bitrates from the durations in seconds and sizes in bytes of its segments. */
export function measureStream(segments: readonly { seconds: number; size: number }[]): Bitrates {
  const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0);
  const bits = segments.reduce((sum, segment) => sum + segment.size * 8, 0);
  const peak = Math.max(0, ...segments.map((segment) => (segment.size * 8) / segment.seconds));
  return { peak, average: seconds > 0 ? bits / seconds : 0 };
}

export interface MasterEntry {
  /** As written, relative to the playlist. */
  uri: string;
  /** Bits per second, from BANDWIDTH. */
  bitrate: number;
  codecs: string;
  width?: number;
  height?: number;
}

/** Parses the streams of an HLS master playlist (RFC 8216, 4.3.4.2) in order; ignores other lines. */
export function parseMasterPlaylist(text: string): MasterEntry[] {
  const lines = text.split(/\r?\n/);
  return lines.flatMap((line, index) => {
    const list = /^#EXT-X-STREAM-INF:(.*)$/.exec(line)?.[1];
    const uri = lines.slice(index + 1).find((next) => next !== "" && !next.startsWith("#"));
    if (list === undefined || uri === undefined) return [];
    const attribute = (name: string) =>
      new RegExp(`(?:^|,)${name}=("[^"]*"|[^,]*)`).exec(list)?.[1]?.replaceAll('"', "");
    const [, width, height] = /^(\d+)x(\d+)$/.exec(attribute("RESOLUTION") ?? "") ?? [];
    const size = width && height ? { width: Number(width), height: Number(height) } : {};
    return [
      { uri, bitrate: Number(attribute("BANDWIDTH") ?? 0), codecs: attribute("CODECS") ?? "", ...size },
    ];
  });
}
