import { FONT_FILE } from "../media/features/text.ts";
import { createSlots } from "../util/async.ts";
import { checkFontSize, type Font, readFont, unpackFont } from "./font.ts";

/** A font in a host's folder of fonts: a subset of a Noto font, in WOFF 1.0. */
export interface FontFile {
  name: string;
  family: string;
  /** Size in bytes. */
  size: number;
  /** SHA-256 in hex. */
  sha256: string;
  /** Code points, in hex, of the letters that it has and the default font lacks, such as `e01-e3a,e3f`. */
  ranges: string;
}

/** Name of the file in the folder that lists its {@link FontFile}s. */
export const FONT_LIST = "fonts.json";

/** The fonts of a host for the scripts that the default font lacks. */
export interface ScriptFonts {
  list(): Promise<readonly FontFile[]>;
  load(file: FontFile): Promise<Uint8Array>;
}

/** Parses the list of fonts. */
export function parseFontList(bytes: Uint8Array): readonly FontFile[] {
  return JSON.parse(new TextDecoder().decode(bytes));
}

// Chinese, Japanese and Korean share characters but draw them differently; kana and hangul tell the languages apart.
const HAN_FAMILIES = [
  { letters: /[\p{Script=Hiragana}\p{Script=Katakana}]/u, family: "Noto Sans JP" },
  { letters: /\p{Script=Hangul}/u, family: "Noto Sans KR" },
  { letters: /\p{Script=Han}/u, family: "Noto Sans SC" },
] as const;

/** Chooses fonts that have as many of the letters as possible. */
export function chooseFonts(letters: readonly string[], files: readonly FontFile[]): FontFile[] {
  const family = HAN_FAMILIES.find((each) => each.letters.test(letters.join("")))?.family;
  const inOrder = files.toSorted((a, b) => Number(b.family === family) - Number(a.family === family));
  const fonts = inOrder.map((file) => ({ file, hasLetter: rangesOf(file) }));
  const fontFor = (letter: string) => {
    const code = letter.codePointAt(0) ?? 0;
    return fonts.find(({ hasLetter }) => hasLetter(code))?.file ?? [];
  };
  return [...new Set(letters.flatMap(fontFor))];
}

function rangesOf({ ranges }: FontFile): (code: number) => boolean {
  const pairs = ranges.split(",").map((range) => {
    const [first = "", last = first] = range.split("-");
    return [Number.parseInt(first, 16), Number.parseInt(last, 16)] as const;
  });
  return (code) => pairs.some(([first, last]) => first <= code && code <= last);
}

const LOADS_AT_ONCE = 8;

/**
 * Loads the fonts for letters that the other fonts of a text lack. Rejects with `input_too_large` when all fonts together are too large;
 * the others have `otherBytes`.
 */
export async function loadScriptFonts(
  fonts: ScriptFonts,
  letters: readonly string[],
  otherBytes: number,
): Promise<Font[]> {
  const files = chooseFonts(letters, await fonts.list());
  const inSlot = createSlots(LOADS_AT_ONCE);
  let total = otherBytes;
  const load = async (file: FontFile) => {
    const bytes = await unpackFont(await fonts.load(file), FONT_FILE.maxBytes);
    total += bytes.length;
    checkFontSize(total);
    return readFont(bytes);
  };
  return Promise.all(files.map((file) => inSlot(() => load(file))));
}
