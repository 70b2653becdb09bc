import { BURN_FONT, burntInput, firstSubtitles } from "../../media/features/subtitles.ts";
import { graphicsWhite } from "../../media/ffmpeg/color.ts";
import type { EncodeRequest } from "../../media/options.ts";
import type { Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { writeAss } from "../../subtitles/ass.ts";
import { type Cue, shiftCues } from "../../subtitles/cue.ts";
import { readTextFile, shownRange } from "../../subtitles/track.ts";
import { viewOf } from "../../util/bytes.ts";
import type { ByteReader, WorkContext } from "../ports.ts";
import * as errors from "./errors.ts";
import { withParam } from "./extra-inputs.ts";
import { extraInputKey, runFolder } from "./media-keys.ts";
import type { StepTools } from "./step-tools.ts";

type BurnTools = Pick<StepTools, "storage" | "open" | "font">;

/** Returns the keys of a plan's extra files, after writing those of burnt-in subtitles. */
export async function extraFileKeys(
  tools: BurnTools,
  { plan, source, request }: { plan: Plan; source: Source; request: EncodeRequest },
  context: WorkContext,
): Promise<string[]> {
  const { run_id } = context;
  const folder = `${runFolder("work", run_id)}burn/`;
  const burnKeys = { subtitles: `${folder}text.ass`, font: `${folder}font.ttf` } as const;
  const options = "subtitles" in request.options ? request.options : {};
  const index = burntInput(options);
  if (index !== null) {
    await context.durably("burn", async (signal) => {
      const [reader, font] = await Promise.all([tools.open(extraInputKey(run_id, index)), loadFont(tools)]);
      const at = index - firstSubtitles(options);
      const text = await burnText({ reader, plan, source, font, signal }).catch((thrown: unknown) => {
        signal.throwIfAborted();
        throw withParam(`options.subtitles.${at}.url`, thrown);
      });
      await tools.storage.write(burnKeys.subtitles, text, "text/x-ssa");
      await tools.storage.write(burnKeys.font, font, "font/ttf");
      return null;
    });
  }
  return (plan.further ?? []).map(({ role }, at) =>
    role === "subtitles" || role === "font" ? burnKeys[role] : extraInputKey(run_id, at),
  );
}

async function loadFont({ font }: BurnTools): Promise<Uint8Array> {
  if (font) return font();
  throw errors.fontMissing();
}

export interface BurnedText {
  reader: ByteReader;
  plan: Plan;
  source: Source;
  font: Uint8Array;
  signal: AbortSignal;
}

// More text at once would fill the picture and stall the renderer.
const MAX_VISIBLE = { cues: 32, letters: 4000 } as const;

/**
 * Writes the ASS file from which a plan's subtitles are drawn. Only the text, times and styles of the input get into it. Rejects
 * as `readTextFile` does, with `input_too_large` when too much is shown at once, and with `input_unsupported` when the font lacks
 * a letter.
 */
export async function burnText({ reader, plan, source, font, signal }: BurnedText): Promise<Uint8Array> {
  const { video } = plan;
  if (video?.mode !== "encode") throw errors.burnWithoutEncode();
  const { cues } = await readTextFile(reader, signal);
  const visibleCues = shiftCues(cues, shownRange(plan));
  checkAmount(visibleCues);
  const { width, height } = video.geometry;
  const style = { width, height, font: BURN_FONT.family, white: graphicsWhite(source, video) };
  return new TextEncoder().encode(writeAss(fitCues(visibleCues, font), style));
}

function fitCues(cues: readonly Cue[], font: Uint8Array): Cue[] {
  const hasLetter = readFontLetters(font);
  const missing = new Set<string>();
  const fittedCues = cues.map((cue) => {
    const fitted = fitText(cue.text, hasLetter);
    for (const letter of fitted.missing) missing.add(letter);
    return { ...cue, text: fitted.text };
  });
  if (missing.size === 0) return fittedCues;
  throw errors.lettersMissing({ letters: [...missing] });
}

function checkAmount(cues: readonly Cue[]): void {
  let visible: Cue[] = [];
  for (const cue of cues) {
    visible = [...visible.filter(({ end }) => end > cue.start), cue];
    const letters = visible.reduce((sum, { text }) => sum + text.length, 0);
    if (visible.length > MAX_VISIBLE.cues || letters > MAX_VISIBLE.letters)
      throw errors.tooMuchText(MAX_VISIBLE);
  }
}

/** Returns whether a font has a glyph for a code point. */
export type HasLetter = (code: number) => boolean;

const FORMAT = 12;

/**
 * Reads which code points have glyphs in a TrueType font (OpenType 1.9, cmap). Throws a RangeError when it has no cmap subtable of
 * format 12.
 */
export function readFontLetters(font: Uint8Array): HasLetter {
  const view = viewOf(font);
  const cmap = findTable(view, "cmap");
  const subtables = Array.from({ length: view.getUint16(cmap + 2) }, (_, index) =>
    view.getUint32(cmap + 4 + index * 8 + 4),
  );
  const subtable = subtables.map((at) => cmap + at).find((at) => view.getUint16(at) === FORMAT);
  if (subtable === undefined) throw errors.fontLettersUnlisted();
  const groups = Array.from({ length: view.getUint32(subtable + 12) }, (_, index) => {
    const at = subtable + 16 + index * 12;
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
