import { type AdaptiveFormat, FORMATS } from "../formats.ts";

/** Lists the URIs in an HLS playlist or DASH manifest written by Framewright, as written and without duplicates. */
export function manifestEntries(text: string): string[] {
  const entries = text.trimStart().startsWith("<") ? dashEntries(text) : playlistEntries(text);
  return [...new Set(entries)];
}

/**
 * Returns the URLs or keys of all manifests of a stream, given the main one, which comes last. The format `hls_dash` has a second
 * manifest in the same folder.
 */
export function manifestsOf(main: string, format: string): string[] {
  const folder = main.slice(0, main.lastIndexOf("/") + 1);
  const rows: Readonly<Record<string, { manifests: readonly string[] }>> = FORMATS.adaptive_video;
  const others = rows[format as AdaptiveFormat]?.manifests.slice(0, -1) ?? [];
  return [...others.map((name) => folder + name), main];
}

const KEY = "#EXT-X-KEY:";

function playlistEntries(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    if (line.startsWith(KEY)) return [];
    if (line.startsWith("#")) return [...line.matchAll(/[:,]URI="([^"]+)"/g)].map(([, uri = ""]) => uri);
    return line.trim() === "" ? [] : [line.trim()];
  });
}

function dashEntries(text: string): string[] {
  const whole = [...text.matchAll(WHOLE)].map(([uri]) => uri);
  return [...[...text.matchAll(TEMPLATE)].flatMap(([template]) => segmentsOf(template)), ...whole];
}

const WHOLE = /(?<=<BaseURL>)[^<]+/g;
const TEMPLATE = /<SegmentTemplate\b.*?<\/SegmentTemplate>/gs;

/** Returns the URIs of a SegmentTemplate: its init segment, then its media segments. */
function segmentsOf(template: string): string[] {
  const attribute = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(template)?.[1] ?? "";
  const rows = [...template.matchAll(/<S\b[^>]*>/g)];
  const count = rows.reduce((sum, [row]) => sum + 1 + Number(/\br="(\d+)"/.exec(row)?.[1] ?? 0), 0);
  const first = Number(attribute("startNumber"));
  const names = Array.from({ length: count }, (_, index) =>
    attribute("media").replace("$Number%05d$", String(first + index).padStart(5, "0")),
  );
  return [attribute("initialization"), ...names];
}

/**
 * Replaces each URI of a manifest that {@link manifestEntries} can read. A SegmentTemplate cannot express arbitrary URLs, so in DASH
 * it becomes a SegmentList.
 */
export async function replaceEntries(text: string, urlOf: (uri: string) => Promise<string>): Promise<string> {
  const urls = new Map<string, string>();
  for (const entry of manifestEntries(text)) urls.set(entry, await urlOf(entry));
  const replaced = (uri: string) => urls.get(uri) ?? uri;
  if (!text.trimStart().startsWith("<")) return replaceInPlaylist(text, replaced);
  return text.replaceAll(WHOLE, replaced).replace(TEMPLATE, (template) => {
    const [init = "", ...segments] = segmentsOf(template).map(replaced);
    return template
      .replaceAll("SegmentTemplate", "SegmentList")
      .replace(/ initialization="[^"]*" media="[^"]*" startNumber="\d+">/, () => {
        return `><Initialization sourceURL="${init}"/>`;
      })
      .replace("</SegmentList>", () => {
        return `${segments.map((url) => `<SegmentURL media="${url}"/>`).join("")}</SegmentList>`;
      });
  });
}

function replaceInPlaylist(text: string, replaced: (uri: string) => string): string {
  const lines = text.split("\n").map((line) => {
    if (line.startsWith(KEY)) return line;
    if (!line.startsWith("#")) return line.replace(line.trim(), replaced);
    return line.replace(/(?<=[:,]URI=")[^"]+/g, replaced);
  });
  return lines.join("\n");
}
