import type { Size } from "../media/picture-geometry.ts";

/** The start tag of an SVG's root element. */
export interface SvgRoot {
  /** Start and end of the attributes in the text, without the tag's brackets. */
  start: number;
  end: number;
  attributes: ReadonlyMap<string, string>;
}

const BOM = 0xfeff;
const DECLARED = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/;
const DECLARATION_BYTES = 256;
const NAME = /^(?:[\w-]+:)?svg(?=[\s/>])/;
const ATTRIBUTE = /(?<![^\s"'])([^\s=<>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * Decodes an SVG by its byte order mark, otherwise by the encoding that its XML declaration names, otherwise as UTF-8; with `cut`, it may
 * end within a character. Null when the bytes are not in that encoding or it is unknown.
 */
export function decodeSvg(bytes: Uint8Array, cut = false): string | null {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true, ignoreBOM: false }).decode(bytes, {
      stream: cut,
    });
  } catch {
    return null;
  }
}

function encodingOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const [, declared = ""] = DECLARED.exec(String.fromCharCode(...bytes.subarray(0, DECLARATION_BYTES))) ?? [];
  // A declaration that can be read as ASCII is not in UTF-16, whatever it says.
  return declared === "" || /^utf-16/i.test(declared) ? "utf-8" : declared;
}

/** Finds the root of an SVG; null for any other text, or when the start tag is cut off. */
export function findSvgRoot(text: string): SvgRoot | null {
  let at = text.charCodeAt(0) === BOM ? 1 : 0;
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at++;
    const end = endOfProlog(text, at);
    if (end === null) break;
    if (end < 0) return null;
    at = end;
  }
  const name = text[at] === "<" && NAME.exec(text.slice(at + 1, at + 64))?.[0];
  if (!name) return null;
  const start = at + 1 + name.length;
  const end = endOfTag(text, start);
  if (end < 0) return null;
  const matches = text.slice(start, end).matchAll(ATTRIBUTE);
  const attributes = new Map(
    [...matches].map(([, key = "", double, single]) => [key, double ?? single ?? ""]),
  );
  return { start, end, attributes };
}

function endOfProlog(text: string, at: number): number | null {
  if (text.startsWith("<?", at)) return after(text, "?>", at + 2);
  if (text.startsWith("<!--", at)) return after(text, "-->", at + 4);
  return text.startsWith("<!DOCTYPE", at) ? endOfDoctype(text, at) : null;
}

const CLOSED_BY: Readonly<Record<string, string>> = { "<!--": "-->", "<?": "?>" };

function endOfDoctype(text: string, at: number): number {
  const mark = /<!--|<\?|["'[\]>]/g;
  mark.lastIndex = at;
  let inside = false;
  for (let token = mark.exec(text)?.[0]; token; token = mark.exec(text)?.[0]) {
    if (token === ">" && !inside) return mark.lastIndex;
    if (token === "[" || token === "]") inside = token === "[";
    else if (token !== ">") {
      const end = after(text, CLOSED_BY[token] ?? token, mark.lastIndex);
      if (end < 0) return -1;
      mark.lastIndex = end;
    }
  }
  return -1;
}

function after(text: string, mark: string, at: number): number {
  const start = text.indexOf(mark, at);
  return start < 0 ? -1 : start + mark.length;
}

/** Returns the offset of a start tag's `>` or `/>`; -1 when it is not closed. */
export function endOfTag(text: string, start: number): number {
  let quote = "";
  for (let at = start; at < text.length; at++) {
    const letter = text[at] ?? "";
    if (quote) quote = letter === quote ? "" : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === ">") return text[at - 1] === "/" ? at - 1 : at;
  }
  return -1;
}

// CSS Values and Units 4, at 96 dpi and a font size of 16 pixels.
const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 9.6 / 2.54,
  q: 2.4 / 2.54,
  em: 16,
  rem: 16,
  ex: 8,
  ch: 8,
};
// CSS 2.2, 10.3.2: replaced elements of unknown size.
const DEFAULT: Size = { width: 300, height: 150 };

/** Returns the size of an SVG in pixels: from its width and height, otherwise its viewBox, otherwise 300 × 150. */
export function svgSize({ attributes }: SvgRoot): Size {
  const box = boxOf(attributes.get("viewBox"));
  const [width, height] = [lengthOf(attributes.get("width")), lengthOf(attributes.get("height"))];
  if (width !== null && height !== null) return { width, height };
  if (!box) return { width: width ?? DEFAULT.width, height: height ?? DEFAULT.height };
  if (width !== null) return { width, height: (width * box.height) / box.width };
  return height !== null ? { width: (height * box.width) / box.height, height } : box;
}

function lengthOf(text: string | undefined): number | null {
  const [, number, unit = ""] = /^\s*\+?(\d*\.?\d+(?:e[+-]?\d+)?)([a-z]*)\s*$/i.exec(text ?? "") ?? [];
  const pixels = Number(number) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  return pixels > 0 ? pixels : null;
}

function boxOf(text: string | undefined): Size | null {
  const [, , width = 0, height = 0, ...more] = (text ?? "")
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  return width > 0 && height > 0 && more.length === 0 ? { width, height } : null;
}

/**
 * Sets the size of an SVG and adds a missing viewBox, because browsers need both to scale it. Removes the XML declaration, whose
 * encoding no longer applies to decoded text.
 */
export function sizeSvg(text: string, { width, height }: Size): string {
  const root = findSvgRoot(text);
  if (!root) return text;
  const size = svgSize(root);
  const box = boxOf(root.attributes.get("viewBox")) ? "" : ` viewBox="0 0 ${size.width} ${size.height}"`;
  const removed = new Set(["width", "height", ...(box ? ["viewBox"] : [])]);
  const rest = text
    .slice(root.start, root.end)
    .replace(ATTRIBUTE, (attribute: string, name: string) => (removed.has(name) ? "" : attribute));
  const prolog = text.slice(0, root.start).replace(/^\ufeff?\s*<\?xml\s[^>]*\?>/, "");
  return `${prolog} width="${width}" height="${height}"${box}${rest}${text.slice(root.end)}`;
}
