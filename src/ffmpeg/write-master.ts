import { parseMasterPlaylist } from "./master-playlist.ts";

/** A file of adaptive video: its path below the master playlist, and its bytes. */
export interface AdaptiveFile {
  name: string;
  bytes: Uint8Array;
}

/** Bits per second of a stream. */
export interface Bitrates {
  /** Of the segment that has the most. */
  peak: number;
  average: number;
}

/** What a master playlist is written from. */
export interface MasterFacts {
  /** The master playlist that ffmpeg wrote: it knows the codecs and sizes, but guesses the bitrates. */
  master: string;
  /** Every other file. */
  files: readonly AdaptiveFile[];
  /** Folder of the sound, when it is apart from the pictures. */
  audio: string | null;
  channels: number | undefined;
  /** Frames per second; undefined when unknown. */
  fps: number | undefined;
}

/** Writes an HLS master playlist (RFC 8216, 4.3.4) with measured bitrates, the best stream first. */
export function writeMaster(facts: MasterFacts): string {
  const { audio, channels, fps } = facts;
  const sound = audio === null ? { peak: 0, average: 0 } : measureStream(`${audio}/${PLAYLIST}`, facts.files);
  const streams = parseMasterPlaylist(facts.master)
    .map((entry) => ({ ...entry, rate: measureStream(entry.uri, facts.files) }))
    .toSorted((a, b) => b.rate.peak - a.rate.peak)
    .flatMap(({ uri, codecs, width, height, rate }) => {
      const attributes = [
        `BANDWIDTH=${Math.ceil(rate.peak + sound.peak)}`,
        `AVERAGE-BANDWIDTH=${Math.ceil(rate.average + sound.average)}`,
        `CODECS="${codecs}"`,
        ...(width && height ? [`RESOLUTION=${width}x${height}`] : []),
        ...(width && fps ? [`FRAME-RATE=${fps.toFixed(3)}`] : []),
        ...(audio === null ? [] : ['AUDIO="audio"']),
      ];
      return [`#EXT-X-STREAM-INF:${attributes.join(",")}`, uri];
    });
  const group = `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="${channels ?? 2}",URI="${audio}/${PLAYLIST}"`;
  return [
    "#EXTM3U",
    "#EXT-X-VERSION:7",
    "#EXT-X-INDEPENDENT-SEGMENTS",
    ...(audio === null ? [] : [group]),
    ...streams,
    "",
  ].join("\n");
}

/** Name of the playlist in each rendition's folder. */
export const PLAYLIST = "playlist.m3u8";

/** Measures a media playlist over the sizes of its segments. */
export function measureStream(uri: string, files: readonly AdaptiveFile[]): Bitrates {
  const find = (name: string) => files.find((file) => file.name === name)?.bytes;
  const folder = uri.slice(0, uri.lastIndexOf("/") + 1);
  const lines = new TextDecoder().decode(find(uri) ?? new Uint8Array()).split(/\r?\n/);
  let peak = 0;
  let bits = 0;
  let seconds = 0;
  for (const [index, line] of lines.entries()) {
    const length = Number(/^#EXTINF:([\d.]+)/.exec(line)?.[1]);
    const name = lines.slice(index + 1).find((next) => next !== "" && !next.startsWith("#"));
    if (!(length > 0) || name === undefined) continue;
    const size = (find(folder + name)?.length ?? 0) * 8;
    peak = Math.max(peak, size / length);
    bits += size;
    seconds += length;
  }
  return { peak, average: seconds > 0 ? bits / seconds : 0 };
}
