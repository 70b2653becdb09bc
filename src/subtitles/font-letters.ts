import { viewOf } from "../util/bytes.ts";

/** Returns whether a font has a glyph for a code point. */
export type HasLetter = (code: number) => boolean;

// A table that covers all planes, by groups of code points that follow one another.
const GROUPS = 12;

/** Reads which code points a TrueType font has glyphs for (OpenType 1.9, cmap). Throws a RangeError when it does not say so in the format for all planes. */
export function readFontLetters(font: Uint8Array): HasLetter {
  const view = viewOf(font);
  const cmap = findTable(view, "cmap");
  const subtables = Array.from({ length: view.getUint16(cmap + 2) }, (_, index) =>
    view.getUint32(cmap + 4 + index * 8 + 4),
  );
  const found = subtables.map((at) => cmap + at).find((at) => view.getUint16(at) === GROUPS);
  if (found === undefined) throw new RangeError("The font has no table of all its letters.");
  const groups = Array.from({ length: view.getUint32(found + 12) }, (_, index) => {
    const at = found + 16 + index * 12;
    return [view.getUint32(at), view.getUint32(at + 4)] as const;
  });
  return (code) => {
    let [low, high] = [0, groups.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((groups[middle]?.[1] ?? 0) < code) low = middle + 1;
      else high = middle;
    }
    return (groups[low]?.[0] ?? Number.POSITIVE_INFINITY) <= code;
  };
}

function findTable(view: DataView, name: string): number {
  const tag = [...name].reduce((sum, letter) => sum * 256 + letter.charCodeAt(0), 0);
  for (let index = 0; index < view.getUint16(4); index++) {
    const at = 12 + index * 16;
    if (view.getUint32(at) === tag) return view.getUint32(at + 8);
  }
  throw new RangeError(`The font has no table ${name}.`);
}

/** What becomes of a text in a font. */
export interface Fitted {
  text: string;
  /** Letters without a glyph, each once. */
  missing: string[];
}

/** Composes letters, and leaves out invisible ones that a font does not have. */
export function fitText(text: string, has: HasLetter): Fitted {
  const missing = new Set<string>();
  const kept = [...text.normalize("NFC")].flatMap((letter) => {
    if (has(letter.codePointAt(0) ?? 0) || letter === "\n") return letter;
    if (/\p{Default_Ignorable_Code_Point}/u.test(letter)) return [];
    if (/[\s\p{Cc}]/u.test(letter)) return " ";
    missing.add(letter);
    return letter;
  });
  return { text: kept.join(""), missing: [...missing] };
}
