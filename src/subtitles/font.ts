import { FONT_FILE } from "../media/features/text.ts";
import { wrongFile } from "../media/plan-errors.ts";
import { inflate, viewOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";

/** Returns whether a font has a glyph for a code point. */
export type HasLetter = (code: number) => boolean;

const SEGMENTS = 4;
const GROUPS = 12;

/** Reads which code points have glyphs in a font (OpenType 1.9, cmap). Throws a RangeError when it has no readable cmap. */
export function readFontLetters(font: Uint8Array): HasLetter {
  const view = viewOf(font);
  const cmap = findTable(view, "cmap");
  const subtables = Array.from(
    { length: view.getUint16(cmap + 2) },
    (_, index) => cmap + view.getUint32(cmap + 4 + index * 8 + 4),
  );
  const withFormat = (format: number) => subtables.find((at) => view.getUint16(at) === format);
  const [groups, segments] = [withFormat(GROUPS), withFormat(SEGMENTS)];
  if (groups !== undefined) return readGroups(view, groups);
  if (segments !== undefined) return readSegments(view, segments);
  throw errors.fontLettersUnlisted();
}

function readGroups(view: DataView, subtable: number): HasLetter {
  const length = view.getUint32(subtable + 12);
  const groups = subtable + 16;
  if (length > (view.byteLength - groups) / 12) throw errors.fontLettersUnlisted();
  return inRanges(length, (index) => {
    const at = groups + index * 12;
    return [view.getUint32(at), view.getUint32(at + 4)];
  });
}

// The last segment only marks the end of the list.
function readSegments(view: DataView, subtable: number): HasLetter {
  const count = view.getUint16(subtable + 6) >> 1;
  const [ends, starts] = [subtable + 14, subtable + 16 + count * 2];
  if (starts + count * 2 > view.byteLength) throw errors.fontLettersUnlisted();
  return inRanges(count - 1, (index) => [
    view.getUint16(starts + index * 2),
    view.getUint16(ends + index * 2),
  ]);
}

// The ranges stay in the file: as objects, those of a crafted font would fill the memory of a Worker.
function inRanges(
  length: number,
  rangeAt: (index: number) => readonly [first: number, last: number],
): HasLetter {
  return (code) => {
    let [low, high] = [0, length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rangeAt(middle)[1] < code) low = middle + 1;
      else high = middle;
    }
    return low < length && rangeAt(low)[0] <= code;
  };
}

// OpenType 1.9: the height of a line on Windows, which is the unit of a script's font size (libass 0.17).
function readLineHeight(view: DataView): number {
  const [metrics, head] = [findTable(view, "OS/2"), findTable(view, "head")];
  const height = view.getUint16(metrics + 74) + view.getUint16(metrics + 76);
  const unitsPerEm = view.getUint16(head + 18);
  if (height === 0 || unitsPerEm === 0) throw wrongFile(FONT_FILE);
  return height / unitsPerEm;
}

const WINDOWS = 3;
const UNICODE: ReadonlySet<number> = new Set([1, 10]);
const FAMILY = 1;
const FULL_NAME = 4;
const PLAIN_NAME = /^\P{Cc}{1,100}$/u;
// A letter has two or four bytes.
const MAX_NAME_BYTES = 400;

// A script names a font by its first family name for Windows.
function readFamily(view: DataView): string {
  const table = findTable(view, "name");
  const strings = table + view.getUint16(table + 4);
  for (let index = 0; index < view.getUint16(table + 2); index++) {
    const at = table + 6 + index * 12;
    const bytes = view.getUint16(at + 8);
    const isFamily = view.getUint16(at) === WINDOWS && view.getUint16(at + 6) === FAMILY;
    if (!isFamily || bytes > MAX_NAME_BYTES) continue;
    const start = strings + view.getUint16(at + 10);
    const codes = Array.from({ length: bytes / 2 }, (_, letter) => view.getUint16(start + letter * 2));
    const name = String.fromCharCode(...codes);
    if (PLAIN_NAME.test(name)) return name;
  }
  throw wrongFile(FONT_FILE);
}

/** A font to draw text with. */
export interface Font {
  bytes: Uint8Array;
  family: string;
  /** Family name in scripts and in the joined file. */
  scriptName: string;
  /** Height of its lines in ems. */
  lineHeight: number;
  hasLetter: HasLetter;
}

/** Reads a TrueType or OpenType font, or the first of a collection. Throws `input_unsupported` for any other file. */
export function readFont(bytes: Uint8Array): Font {
  const view = viewOf(bytes);
  try {
    if (directoryEnd(view) > bytes.length) throw wrongFile(FONT_FILE);
    const family = readFamily(view);
    return {
      bytes: withAllLetters(bytes),
      family,
      scriptName: family,
      lineHeight: readLineHeight(view),
      hasLetter: readFontLetters(bytes),
    };
  } catch (thrown) {
    if (thrown instanceof RangeError) throw wrongFile(FONT_FILE);
    throw thrown;
  }
}

// libass (0.17) looks letters up in the first table for Windows, which often lacks those beyond U+FFFF although another table has all.
function withAllLetters(bytes: Uint8Array): Uint8Array {
  const view = viewOf(bytes);
  const cmap = findTable(view, "cmap");
  const records = Array.from({ length: view.getUint16(cmap + 2) }, (_, index) => cmap + 4 + index * 8);
  const all = records.find((at) => view.getUint16(cmap + view.getUint32(at + 4)) === GROUPS);
  const first = records.find((at) => view.getUint16(at) === WINDOWS && UNICODE.has(view.getUint16(at + 2)));
  if (all === undefined || first === undefined) return bytes;
  const offset = view.getUint32(all + 4);
  if (view.getUint32(first + 4) === offset) return bytes;
  const font = bytes.slice();
  viewOf(font).setUint32(first + 4, offset);
  return font;
}

/**
 * Gives the fonts of a request distinct names in scripts, because subsets of a font share its family name, and a script cannot state every
 * name. The last font, that of the host, keeps its own.
 */
export function nameFonts(fonts: readonly Font[]): Font[] {
  return fonts.map((font, index) =>
    index === fonts.length - 1 ? font : { ...font, scriptName: `Font ${index + 1}` },
  );
}

// W3C, WOFF File Format 1.0: the header, and an entry of the table directory.
const WOFF_HEADER = 44;
const WOFF_ENTRY = 20;

/**
 * Returns a font with uncompressed tables: the one in a WOFF, or the bytes as they are. Rejects with `input_unsupported` for a damaged
 * WOFF, and with `input_too_large` for one whose tables exceed `maxBytes`.
 */
export async function unpackFont(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const view = viewOf(bytes);
  if (bytes.length < WOFF_HEADER || view.getUint32(0) !== tagOf("wOFF")) return bytes;
  const count = view.getUint16(12);
  if (WOFF_HEADER + count * WOFF_ENTRY > bytes.length) throw wrongFile(FONT_FILE);
  const entries = Array.from({ length: count }, (_, index) => {
    const [tag = 0, offset = 0, packed = 0, size = 0, sum = 0] = [0, 4, 8, 12, 16].map((field) =>
      view.getUint32(WOFF_HEADER + index * WOFF_ENTRY + field),
    );
    return { tag, size, sum, data: bytes.subarray(offset, offset + packed) };
  });
  const start = 12 + count * 16;
  const total = entries.reduce((all, { size }) => all + Math.ceil(size / 4) * 4, start);
  if (total > maxBytes) throw errors.largeFont(FONT_FILE);
  const font = new Uint8Array(total);
  const directory = viewOf(font);
  directory.setUint32(0, view.getUint32(4));
  directory.setUint16(4, count);
  let at = start;
  for (const [index, { tag, size, sum, data }] of entries.entries()) {
    const table = data.length < size ? await inflate(data, size) : data;
    if (table?.length !== size) throw wrongFile(FONT_FILE);
    for (const [field, value] of [tag, sum, at, size].entries())
      directory.setUint32(12 + index * 16 + field * 4, value);
    font.set(table, at);
    at += Math.ceil(size / 4) * 4;
  }
  return font;
}

const COLLECTION = "ttcf";

/** Throws `input_too_large` if all fonts together have too many bytes. */
export function checkFontSize(bytes: number): void {
  if (bytes > FONT_FILE.maxBytes) throw errors.largeFont(FONT_FILE);
}

/** Returns the position of a file's first table directory. */
function firstDirectory(view: DataView): number {
  return view.getUint32(0) === tagOf(COLLECTION) ? view.getUint32(12) : 0;
}

function directoryEnd(view: DataView): number {
  const start = firstDirectory(view);
  return start + 12 + view.getUint16(start + 4) * 16;
}

function findTable(view: DataView, name: string): number {
  const directory = firstDirectory(view);
  for (let index = 0; index < view.getUint16(directory + 4); index++) {
    const at = directory + 12 + index * 16;
    if (view.getUint32(at) === tagOf(name)) return view.getUint32(at + 8);
  }
  throw errors.fontTableMissing({ name });
}

function tagOf(name: string): number {
  return [...name].reduce((sum, letter) => sum * 256 + letter.charCodeAt(0), 0);
}

/** Writes a table of names that holds only a family name (OpenType 1.9, name). */
function writeNames(family: string): Uint8Array {
  const ids = [FAMILY, FULL_NAME];
  const strings = 6 + ids.length * 12;
  const table = new Uint8Array(strings + family.length * 2);
  const view = viewOf(table);
  view.setUint16(2, ids.length);
  view.setUint16(4, strings);
  for (const [index, id] of ids.entries())
    for (const [at, value] of [WINDOWS, 1, ENGLISH, id, family.length * 2, 0].entries())
      view.setUint16(6 + index * 12 + at * 2, value);
  for (let at = 0; at < family.length; at++) view.setUint16(strings + at * 2, family.charCodeAt(at));
  return table;
}

const ENGLISH = 0x409;

/** Joins fonts into one file (OpenType 1.9, a collection), because encoders read a single one. Each has its name in scripts. */
export function joinFonts(fonts: readonly Font[]): Uint8Array {
  const [first, ...others] = fonts;
  if (first && others.length === 0) return first.bytes;
  const directories = fonts.map(({ bytes }) => {
    const own = viewOf(bytes);
    return bytes.slice(firstDirectory(own), directoryEnd(own));
  });
  const header = 12 + fonts.length * 4;
  const sizes = directories.map(({ length }) => length);
  let end = sizes.reduce((sum, size) => sum + size, header);
  const starts = fonts.map(({ bytes }) => {
    const start = Math.ceil(end / 4) * 4;
    end = start + bytes.length;
    return start;
  });
  const names = fonts.map(({ family, scriptName }) => {
    if (scriptName === family) return null;
    const [table, start] = [writeNames(scriptName), Math.ceil(end / 4) * 4];
    end = start + table.length;
    return { table, start };
  });
  const collection = new Uint8Array(end);
  const view = viewOf(collection);
  view.setUint32(0, tagOf(COLLECTION));
  view.setUint32(4, 0x10000);
  view.setUint32(8, fonts.length);
  let at = header;
  for (const [index, directory] of directories.entries()) {
    const start = starts[index] ?? 0;
    const tables = viewOf(directory);
    const name = names[index];
    for (let table = 12; table < directory.length; table += 16) {
      const isName = name && tables.getUint32(table) === tagOf("name");
      tables.setUint32(table + 8, isName ? name.start : tables.getUint32(table + 8) + start);
      if (isName) tables.setUint32(table + 12, name.table.length);
    }
    if (name) collection.set(name.table, name.start);
    view.setUint32(12 + index * 4, at);
    collection.set(directory, at);
    collection.set(fonts[index]?.bytes ?? [], start);
    at += directory.length;
  }
  return collection;
}

/** A run of text in one font. */
export interface FontRun {
  text: string;
  font: Font;
}

// Marks, joiners, spaces, digits and punctuation stay with the letters before them.
const COMMON = /[\p{M}\p{Cf}\p{P}\p{S}\p{N}\s]/u;

/** Splits a text into runs, each in the first font that has its letters; letters that no font has get the first font. */
export function splitByFont(text: string, fonts: readonly Font[]): FontRun[] {
  const runs: FontRun[] = [];
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    const last = runs.at(-1);
    const stays = last && (letter === "\n" || (COMMON.test(letter) && last.font.hasLetter(code)));
    const font = stays ? last.font : (fonts.find(({ hasLetter }) => hasLetter(code)) ?? fonts[0]);
    if (!font) return [];
    if (last?.font === font) last.text += letter;
    else runs.push({ text: letter, font });
  }
  return runs;
}

/** A text adapted to a font. */
export interface FittedText {
  text: string;
  /** Letters without a glyph, each once. */
  missing: string[];
}

/** Composes letters (NFC), and removes invisible characters that the font lacks. */
export function fitText(text: string, hasLetter: HasLetter): FittedText {
  const missing = new Set<string>();
  const letters = [...text.normalize("NFC")].flatMap((letter) => {
    if (hasLetter(letter.codePointAt(0) ?? 0) || letter === "\n") return letter;
    if (/\p{Default_Ignorable_Code_Point}/u.test(letter)) return [];
    if (/[\s\p{Cc}]/u.test(letter)) return " ";
    missing.add(letter);
    return letter;
  });
  return { text: letters.join(""), missing: [...missing] };
}
