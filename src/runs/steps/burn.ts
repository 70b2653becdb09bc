import type { PictureSize } from "../../media/feature.ts";
import { BURN_FONT, burntInput, firstSubtitles } from "../../media/features/subtitles.ts";
import { placeText, type TextItem } from "../../media/features/text.ts";
import { graphicsWhite } from "../../media/ffmpeg/color.ts";
import type { EncodeRequest } from "../../media/options.ts";
import type { Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { writeAss, writeTexts } from "../../subtitles/ass.ts";
import { type Cue, shiftCues } from "../../subtitles/cue.ts";
import { fitText, readFontLetters, readLineHeight } from "../../subtitles/font.ts";
import { readTextFile, shownRange } from "../../subtitles/track.ts";
import type { ByteReader, WorkContext } from "../ports.ts";
import * as errors from "./errors.ts";
import { withParam } from "./extra-inputs.ts";
import { extraInputKey, runFolder } from "./media-keys.ts";
import type { StepTools } from "./step-tools.ts";

type BurnTools = Pick<StepTools, "storage" | "open" | "font">;

/** Returns the keys of a plan's extra files, after writing those of drawn text. */
export async function extraFileKeys(
  tools: BurnTools,
  { plan, source, request }: { plan: Plan; source: Source; request: EncodeRequest },
  context: WorkContext,
): Promise<string[]> {
  const { run_id } = context;
  const folder = `${runFolder("work", run_id)}burn/`;
  const keys = {
    subtitles: `${folder}text.ass`,
    text: `${folder}words.ass`,
    font: `${folder}font.ttf`,
  } as const;
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
      await tools.storage.write(keys.subtitles, text, SCRIPT);
      await tools.storage.write(keys.font, font, "font/ttf");
      return null;
    });
  }
  const { image, video } = plan;
  const drawn = image?.text ?? (video?.mode === "encode" ? video.text : undefined);
  const { text: texts = [] } = "text" in request.options ? request.options : {};
  if (drawn) {
    await context.durably("text", async () => {
      const font = await loadFont(tools);
      await tools.storage.write(keys.text, drawnTexts(texts, drawn, font), SCRIPT);
      await tools.storage.write(keys.font, font, "font/ttf");
      return null;
    });
  }
  return (plan.further ?? []).map(({ role }, at) =>
    role === "subtitles" || role === "text" || role === "font" ? keys[role] : extraInputKey(run_id, at),
  );
}

const SCRIPT = "text/x-ssa";

/** Writes the script that shows each text for a second. Rejects with `invalid_options` when the font lacks a letter. */
export function drawnTexts(texts: readonly TextItem[], size: PictureSize, font: Uint8Array): Uint8Array {
  const hasLetter = readFontLetters(font);
  const lineHeight = readLineHeight(font);
  const placed = texts.map((option, at) => {
    const { text, missing } = fitText(option.text, hasLetter);
    if (missing.length > 0)
      throw errors.lettersMissing({ param: `options.text.${at}.text`, letters: missing });
    const words = placeText({ ...option, text }, size);
    return { ...words, size: words.size * lineHeight };
  });
  return new TextEncoder().encode(writeTexts(placed, { ...size, font: BURN_FONT.family }));
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
  throw errors.burntLettersMissing([...missing]);
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
