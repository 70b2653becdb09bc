/** How a stretch of text is set. */
export interface Face {
  bold: boolean;
  italic: boolean;
  underline: boolean;
}

/** A stretch of plain text that is set alike. */
export interface Run extends Face {
  text: string;
}

const TAGS = { bold: "b", italic: "i", underline: "u" } as const satisfies Record<keyof Face, string>;
const FACES = Object.entries(TAGS) as [keyof Face, string][];
export const PLAIN: Face = { bold: false, italic: false, underline: false };

/** Writes runs as cue text of WebVTT, each line of which has text. */
export function writeMarkup(runs: readonly Run[]): string {
  const marked = runs.map(({ text, ...face }) => {
    const tags = FACES.filter(([name]) => face[name] && text.trim() !== "").map(([, tag]) => tag);
    const open = tags.map((tag) => `<${tag}>`).join("");
    const close = tags.map((tag) => `</${tag}>`).reverse();
    return `${open}${escapeText(text)}${close.join("")}`;
  });
  // An empty line would end the cue.
  return marked
    .join("")
    .replace(/\r\n?/g, "\n")
    .replace(/\n\s*\n/g, "\n")
    .replace(/^[^\S\n]*\n+|\n+[^\S\n]*$/g, "");
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", nbsp: "\u00a0", lrm: "\u200e", rlm: "\u200f", quot: '"', apos: "'" },
};

/** Replaces the entities that subtitles have; others stay as they are. */
function readEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
      ? String.fromCodePoint(code)
      : whole;
  });
}

// A tag of WebVTT: its slash, its name, and classes or a speaker up to the end; or a time.
const WEBVTT_TAG = /<(\/?)([a-z]+)(?:[.\s][^<>]*)?>|<\/?>|<[\d:.]+>/gi;

/** Parses cue text of WebVTT; of its tags, those of {@link Face} are kept. */
export function readMarkup(text: string): Run[] {
  return readTags(text, WEBVTT_TAG, (name) => FACES.find(([, tag]) => tag === name)?.[0] ?? null);
}

// Only these are tags in SubRip: text in other angle brackets is shown.
const SUBRIP_TAG = /<(\/?)(b|i|u|s|font|strong|em)(?:\s[^<>]*)?>|\{\\[^{}]*\}/gi;

/** Parses the text of SubRip, in which only tags of HTML that set type are tags. */
export function readSubripMarkup(text: string): Run[] {
  return readTags(text, SUBRIP_TAG, (name) => SUBRIP[name] ?? null);
}

const SUBRIP: Readonly<Record<string, keyof Face>> = {
  ...{ b: "bold", strong: "bold", i: "italic", em: "italic", u: "underline" },
};

function readTags(text: string, tags: RegExp, faceOf: (name: string) => keyof Face | null): Run[] {
  const depth = { bold: 0, italic: 0, underline: 0 };
  const runs: Run[] = [];
  let at = 0;
  const add = (end: number) => {
    const part = readEntities(text.slice(at, end));
    const face = { bold: depth.bold > 0, italic: depth.italic > 0, underline: depth.underline > 0 };
    if (part !== "") runs.push({ text: part, ...face });
  };
  for (const match of text.matchAll(tags)) {
    add(match.index);
    at = match.index + match[0].length;
    const face = faceOf((match[2] ?? "").toLowerCase());
    if (face) depth[face] = Math.max(0, depth[face] + (match[1] === "/" ? -1 : 1));
  }
  add(text.length);
  return runs;
}
