export interface Variant {
  url: string;
  bandwidth: number;
  average_bandwidth: number;
  codecs: string;
  resolution: string | undefined;
  frame_rate: number;
  audio: string | undefined;
  /** NaN where the playlist has none. */
  score: number;
}

export interface MasterPlaylist {
  variants: Variant[];
  /** URLs of the audio renditions by group. */
  audio: Record<string, string>;
}

export interface MediaPlaylist {
  target: number;
  init: string;
  segments: { url: string; seconds: number }[];
  ended: boolean;
  kind: string | undefined;
}

/** Parses a master playlist independently of the product; resolves URLs against `base`. */
export function parseMaster(text: string, base: string): MasterPlaylist {
  const lines = linesOf(text);
  const variants: Variant[] = [];
  const audio: Record<string, string> = {};
  for (const [index, line] of lines.entries()) {
    if (line.startsWith("#EXT-X-MEDIA:")) {
      const { TYPE, URI = "", "GROUP-ID": group = "" } = attributes(line);
      if (TYPE === "AUDIO") audio[group] = new URL(URI, base).href;
    }
    if (!line.startsWith("#EXT-X-STREAM-INF:")) continue;
    const values = attributes(line);
    variants.push({
      url: new URL(lines[index + 1] ?? "", base).href,
      bandwidth: Number(values.BANDWIDTH),
      average_bandwidth: Number(values["AVERAGE-BANDWIDTH"]),
      codecs: values.CODECS ?? "",
      resolution: values.RESOLUTION,
      frame_rate: Number(values["FRAME-RATE"]),
      audio: values.AUDIO,
      score: Number(values.SCORE),
    });
  }
  return { variants, audio };
}

/** Parses a media playlist of fMP4 segments; resolves URLs against `base`. */
export function parseMedia(text: string, base: string): MediaPlaylist {
  const lines = linesOf(text);
  const value = (tag: string) => lines.find((line) => line.startsWith(`${tag}:`))?.slice(tag.length + 1);
  const segments: MediaPlaylist["segments"] = [];
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith("#EXTINF:")) continue;
    const next = lines.slice(index + 1).find((other) => !other.startsWith("#")) ?? "";
    segments.push({ url: new URL(next, base).href, seconds: Number.parseFloat(line.slice(8)) });
  }
  const map = attributes(`#EXT-X-MAP:${value("#EXT-X-MAP") ?? ""}`).URI;
  return {
    target: Number(value("#EXT-X-TARGETDURATION")),
    init: map ? new URL(map, base).href : "",
    segments,
    ended: lines.includes("#EXT-X-ENDLIST"),
    kind: value("#EXT-X-PLAYLIST-TYPE"),
  };
}

/**
 * Measures the bits per second of streams that are played together (RFC 8216, 4.3.4.2): the peak over segments, and the mean.
 * `size` returns the bytes behind a URL.
 */
export async function measureBits(
  playlists: readonly MediaPlaylist[],
  size: (url: string) => Promise<number>,
): Promise<{ peak: number; average: number }> {
  let peak = 0;
  let average = 0;
  for (const { segments } of playlists) {
    const measured = segments.map(async ({ url, seconds }) => ({ bits: (await size(url)) * 8, seconds }));
    const rates = await Promise.all(measured);
    const whole = rates.reduce((sum, { seconds }) => sum + seconds, 0);
    peak += Math.max(...rates.map(({ bits, seconds }) => bits / seconds));
    average += rates.reduce((sum, { bits }) => sum + bits, 0) / whole;
  }
  return { peak, average };
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines[0] !== "#EXTM3U") throw new Error("a playlist must begin with #EXTM3U");
  return lines;
}

// Attribute lists of RFC 8216, 4.2: NAME=value, where a quoted value may hold commas.
function attributes(line: string): Record<string, string> {
  const list = line.slice(line.indexOf(":") + 1);
  const pairs = [...list.matchAll(/([A-Z0-9-]+)=("[^"]*"|[^,]*)/g)];
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value.replaceAll('"', "")]));
}
