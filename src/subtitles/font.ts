import { viewOf } from "../util/bytes.ts";
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
  return inRanges(
    Array.from({ length: view.getUint32(subtable + 12) }, (_, index) => {
      const at = subtable + 16 + index * 12;
      return [view.getUint32(at), view.getUint32(at + 4)] as const;
    }),
  );
}

// The last segment ends the list, and has no letter.
function readSegments(view: DataView, subtable: number): HasLetter {
  const count = view.getUint16(subtable + 6) / 2;
  const [ends, starts] = [subtable + 14, subtable + 16 + count * 2];
  return inRanges(
    Array.from(
      { length: count - 1 },
      (_, index) => [view.getUint16(starts + index * 2), view.getUint16(ends + index * 2)] as const,
    ),
  );
}

function inRanges(ranges: readonly (readonly [number, number])[]): HasLetter {
  return (code) => {
    let [low, high] = [0, ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ranges[middle]?.[1] ?? 0) < code) low = middle + 1;
      else high = middle;
    }
    return (ranges[low]?.[0] ?? Number.POSITIVE_INFINITY) <= code;
  };
}

/** Returns the height of a font's lines in ems, by which a script counts sizes (libass 0.17). */
export function readLineHeight(font: Uint8Array): number {
  const view = viewOf(font);
  const [metrics, head] = [findTable(view, "OS/2"), findTable(view, "head")];
  return (view.getUint16(metrics + 74) + view.getUint16(metrics + 76)) / view.getUint16(head + 18);
}

function findTable(view: DataView, name: string): number {
  const tag = [...name].reduce((sum, letter) => sum * 256 + letter.charCodeAt(0), 0);
  for (let index = 0; index < view.getUint16(4); index++) {
    const at = 12 + index * 16;
    if (view.getUint32(at) === tag) return view.getUint32(at + 8);
  }
  throw errors.fontTableMissing({ name });
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
