import { type StreamText, writeTextGroup } from "../text/stream-text.ts";
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

export interface MasterSound {
  folder: string;
  codecs: string;
  channels: number;
  rate: Bitrates;
  /** As in BCP 47; undefined when unknown. */
  language?: string | undefined;
  /** For a player's menu; unlike those of the others. */
  name: string;
}

export interface MasterFacts {
  streams: readonly MasterStream[];
  /** The sounds, of which a player plays one with any stream, the usual one first; empty when none is separate from the pictures. */
  sounds: readonly MasterSound[];
  /** The text tracks, of which a player shows one with any stream; absent without any. */
  texts?: readonly StreamText[] | undefined;
  /** Frames per second; undefined when unknown. */
  fps: number | undefined;
  /** The I-frame playlists of the streams, with the rates of their ranges; absent where there are none. */
  i_frames?: readonly MasterStream[] | undefined;
}

/** Writes an HLS master playlist (RFC 8216, 4.3.4) with measured bitrates, the best stream first. */
export function writeMaster({ streams, sounds, texts = [], fps, i_frames = [] }: MasterFacts): string {
  const sound = highest(sounds);
  const heard = [...new Set(sounds.map(({ codecs }) => codecs))];
  const variants = streams
    .toSorted((a, b) => b.rate.peak - a.rate.peak)
    .flatMap(({ uri, codecs, width, height, rate }) => {
      const attributes = [
        `BANDWIDTH=${Math.ceil(rate.peak + sound.peak)}`,
        `AVERAGE-BANDWIDTH=${Math.ceil(rate.average + sound.average)}`,
        `CODECS="${[codecs, ...heard].join(",")}"`,
        ...(width && height ? [`RESOLUTION=${width}x${height}`] : []),
        ...(width && fps ? [`FRAME-RATE=${fps.toFixed(3)}`] : []),
        ...(sounds.length > 0 ? ['AUDIO="audio"'] : []),
        ...(texts.length > 0 ? ['SUBTITLES="subtitles"'] : []),
      ];
      return [`#EXT-X-STREAM-INF:${attributes.join(",")}`, uri];
    });
  const shown = i_frames
    .toSorted((a, b) => b.rate.peak - a.rate.peak)
    .map(({ uri, codecs, width, height, rate }) => {
      const size = width && height ? `,RESOLUTION=${width}x${height}` : "";
      return `#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=${Math.ceil(rate.peak)},AVERAGE-BANDWIDTH=${Math.ceil(rate.average)},CODECS="${codecs}"${size},URI="${uri}"`;
    });
  const group = sounds.map(({ folder, channels, language, name }, index) => {
    const facts = [
      ...["TYPE=AUDIO", 'GROUP-ID="audio"', `NAME="${name}"`],
      ...(language ? [`LANGUAGE="${language}"`] : []),
      ...[`DEFAULT=${index === 0 ? "YES" : "NO"}`, "AUTOSELECT=YES", `CHANNELS="${channels}"`],
      `URI="${folder}/${PLAYLIST}"`,
    ];
    return `#EXT-X-MEDIA:${facts.join(",")}`;
  });
  return [
    "#EXTM3U",
    "#EXT-X-VERSION:7",
    "#EXT-X-INDEPENDENT-SEGMENTS",
    ...group,
    ...writeTextGroup(texts),
    ...variants,
    ...shown,
    "",
  ].join("\n");
}

/** Returns the highest rates of sounds, of which one is played at a time. */
function highest(sounds: readonly { rate: Bitrates }[]): Bitrates {
  return {
    peak: Math.max(0, ...sounds.map(({ rate }) => rate.peak)),
    average: Math.max(0, ...sounds.map(({ rate }) => rate.average)),
  };
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
