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

/**
 * Writes the media playlist of a complete on-demand stream; `folder` is its location, ending in a slash. With `leads`, an I-frame
 * playlist (RFC 8216, 4.3.3.6): the bytes of each segment up to the end of its first picture.
 */
export function writeMediaPlaylist(
  folder: string,
  runs: readonly SegmentRun[],
  leads?: ReadonlyMap<string, number>,
): string {
  const relative = (name: string) => (name.startsWith(folder) ? name.slice(folder.length) : `../${name}`);
  const lengths = runs.flatMap((run) => run.segments.map(({ seconds }) => Math.round(seconds)));
  const rangeOf = (name: string) => (leads ? [`#EXT-X-BYTERANGE:${leads.get(name)}@0`] : []);
  let init: string | null = null;
  const lines = runs.flatMap((run) => {
    const map = run.init === null || run.init === init ? [] : [`#EXT-X-MAP:URI="${relative(run.init)}"`];
    init = run.init ?? init;
    return [...map, ...run.segments.flatMap(({ name, line }) => [line, ...rangeOf(name), relative(name)])];
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

/** Returns the paths, relative to the master playlist, of all files that a playlist or manifest, located at `name`, refers to. */
export function namedIn(name: string, text: string): string[] {
  return [...new Set(manifestEntries(text).map((uri) => resolve(name, uri)))];
}

function resolve(playlist: string, uri: string): string {
  return new URL(uri, `http://stream/${playlist}`).pathname.slice(1);
}
