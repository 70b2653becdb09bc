import { manifestEntries } from "./manifest-entries.ts";

/** Name of the playlist in each rendition's folder. */
export const PLAYLIST = "playlist.m3u8";

/** Name of the I-frame playlist in each rendition's folder. */
export const I_FRAMES = "iframes.m3u8";

export interface Segment {
  /** Path relative to the master playlist. */
  name: string;
  seconds: number;
  /** The EXTINF line, as written. */
  line: string;
}

/** Segments of a media playlist that share an init segment. */
export interface SegmentRun {
  /** Path of the init segment relative to the master playlist; null when there is none. */
  init: string | null;
  segments: Segment[];
}

/** Parses the segments of an fMP4 media playlist (RFC 8216, 4.3.3) located at `name`; ignores other lines. */
export function parseMediaPlaylist(name: string, text: string): SegmentRun {
  const lines = text.split(/\r?\n/);
  const map = lines.flatMap((line) => /^#EXT-X-MAP:URI="([^"]*)"/.exec(line)?.[1] ?? []);
  const segments = lines.flatMap((line, index) => {
    const seconds = Number(/^#EXTINF:([\d.]+)/.exec(line)?.[1]);
    const uri = lines.slice(index + 1).find((next) => next !== "" && !next.startsWith("#"));
    if (!(seconds > 0) || uri === undefined) return [];
    return [{ name: resolve(name, uri), seconds, line }];
  });
  return { init: map[0] === undefined ? null : resolve(name, map[0]), segments };
}

/** Facts of a media playlist beyond its segments. */
export interface PlaylistFacts {
  /** Bytes of each segment up to the end of its first picture: makes an I-frame playlist (RFC 8216, 4.3.3.6). */
  leads?: ReadonlyMap<string, number> | undefined;
  /** Where players get the key of the segments, and any vector that all share, in hexadecimal; else see {@link segmentIv}. */
  encryption?: { key_url: string; iv?: string } | undefined;
}

/** Returns the initialization vector of a segment, in hexadecimal: its number, which players derive from its position (RFC 8216, 5.2). */
export function segmentIv(name: string): string {
  return Number(/(\d+)\.m4s$/.exec(name)?.[1] ?? 0)
    .toString(16)
    .padStart(32, "0");
}

/** Writes the media playlist of a complete on-demand stream; `folder` is its location, ending in a slash. */
export function writeMediaPlaylist(
  folder: string,
  runs: readonly SegmentRun[],
  { leads, encryption }: PlaylistFacts = {},
): string {
  const relative = (name: string) => (name.startsWith(folder) ? name.slice(folder.length) : `../${name}`);
  const lengths = runs.flatMap((run) => run.segments.map(({ seconds }) => Math.round(seconds)));
  const rangeOf = (name: string) => (leads ? [`#EXT-X-BYTERANGE:${leads.get(name)}@0`] : []);
  const keys = encryption && keyLines(encryption);
  let init: string | null = null;
  let place = 0;
  const lines = runs.flatMap((run) => {
    const map = run.init === null || run.init === init ? [] : [`#EXT-X-MAP:URI="${relative(run.init)}"`];
    init = run.init ?? init;
    const clear = map.length > 0 ? (keys?.clear() ?? []) : [];
    const segments = run.segments.flatMap(({ name, line }) => [
      ...(keys?.before(name, place++) ?? []),
      ...[line, ...rangeOf(name), relative(name)],
    ]);
    return [...clear, ...map, ...segments];
  });
  return [
    "#EXTM3U",
    "#EXT-X-VERSION:7",
    // Never 0, because some players divide by it.
    `#EXT-X-TARGETDURATION:${Math.max(1, ...lengths)}`,
    "#EXT-X-MEDIA-SEQUENCE:0",
    "#EXT-X-PLAYLIST-TYPE:VOD",
    leads ? "#EXT-X-I-FRAMES-ONLY" : "#EXT-X-INDEPENDENT-SEGMENTS",
    ...lines,
    "#EXT-X-ENDLIST",
    "",
  ].join("\n");
}

// A key applies until the next one, to init segments too, which stay in the clear. Where a segment's position is not its number,
// its vector has to be written out.
function keyLines({ key_url, iv }: NonNullable<PlaylistFacts["encryption"]>) {
  const key = `#EXT-X-KEY:METHOD=AES-128,URI="${key_url}"`;
  let current: string | null = null;
  const change = (line: string) => {
    const changed = line === current ? [] : [line];
    current = line;
    return changed;
  };
  return {
    before(name: string, place: number): string[] {
      const own = iv ?? segmentIv(name);
      const isPlace = iv === undefined && Number.parseInt(own, 16) === place;
      return change(isPlace ? key : `${key},IV=0x${own}`);
    },
    clear: () => (current === null ? [] : change("#EXT-X-KEY:METHOD=NONE")),
  };
}

/** Returns the paths, relative to the master playlist, of all files that a playlist or manifest, located at `name`, refers to. */
export function namedIn(name: string, text: string): string[] {
  return [...new Set(manifestEntries(text).map((uri) => resolve(name, uri)))];
}

function resolve(playlist: string, uri: string): string {
  return new URL(uri, `http://stream/${playlist}`).pathname.slice(1);
}
