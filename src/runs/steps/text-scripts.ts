import { MediaError } from "../../media/errors.ts";
import { extraInputs, firstInputIndex } from "../../media/extra-inputs.ts";
import type { PictureSize } from "../../media/feature.ts";
import {
  BURN_FONT,
  burntFile,
  burntInput,
  captionScriptColors,
  letterHeight,
  placeAt,
  type SubtitleOptions,
} from "../../media/features/subtitles.ts";
import { FONT_FILE, placeText, type TextItem } from "../../media/features/text.ts";
import { graphicsWhite } from "../../media/ffmpeg/color.ts";
import type { EncodeRequest } from "../../media/options.ts";
import type { Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { type ScriptRun, writeAss, writeTexts } from "../../subtitles/ass.ts";
import { markBrackets } from "../../subtitles/bidi.ts";
import { type Cue, shiftCues } from "../../subtitles/cue.ts";
import {
  checkFontSize,
  type Font,
  fitText,
  type HasLetter,
  joinFonts,
  nameFonts,
  readFont,
  splitByFont,
  unpackFont,
} from "../../subtitles/font.ts";
import { loadScriptFonts } from "../../subtitles/script-fonts.ts";
import { readTextFile, shownRange } from "../../subtitles/track.ts";
import type { ByteReader, WorkContext } from "../ports.ts";
import * as errors from "./errors.ts";
import { withParam } from "./extra-inputs.ts";
import { extraInputKey, runFolder } from "./media-keys.ts";
import type { StepTools } from "./step-tools.ts";

type ScriptTools = Pick<StepTools, "storage" | "open" | "font" | "scriptFonts">;

/** Loads the fonts for a text, in the order in which they are tried. */
type LoadFonts = (text: string) => Promise<readonly Font[]>;

/** Returns the keys of a plan's extra files, after writing those of drawn text. */
export async function extraFileKeys(
  tools: ScriptTools,
  {
    plan,
    source,
    request,
    work,
  }: { plan: Plan; source: Source; request: EncodeRequest; work?: string | undefined },
  context: WorkContext,
): Promise<string[]> {
  const { run_id } = context;
  const folder = `${work ?? runFolder("work", run_id)}burn/`;
  const keys = {
    subtitles: { script: `${folder}text.ass`, font: `${folder}font.ttf` },
    text: { script: `${folder}words.ass`, font: `${folder}words.ttf` },
  } as const;
  const options = "subtitles" in request.options ? request.options : {};
  const index = burntInput(options);
  const writeFiles = async (
    { script, font }: { script: string; font: string },
    write: (load: LoadFonts) => Promise<Uint8Array>,
  ) => {
    let fonts: readonly Font[] = [];
    const load: LoadFonts = async (text) => {
      fonts = await loadFonts(tools, request, run_id, text);
      return fonts;
    };
    await tools.storage.write(script, await write(load), "text/x-ssa");
    await tools.storage.write(font, joinFonts(fonts), "font/ttf");
    return null;
  };
  if (index !== null) {
    await context.durably("burn", async (signal) => {
      const reader = await tools.open(extraInputKey(run_id, index));
      const at = index - firstInputIndex(options, "subtitles");
      return writeFiles(keys.subtitles, (load) =>
        burnText({ reader, plan, source, options, fonts: load, signal }).catch((thrown: unknown) => {
          signal.throwIfAborted();
          const isOfStyle = thrown instanceof MediaError && thrown.param !== undefined;
          throw isOfStyle ? thrown : withParam(`options.subtitles.${at}.url`, thrown);
        }),
      );
    });
  }
  const { image, video } = plan;
  const textPlan = image?.text ?? (video?.mode === "encode" ? video.text : undefined);
  const { text: texts = [] } = "text" in request.options ? request.options : {};
  if (textPlan)
    await context.durably("texts", async () =>
      writeFiles(keys.text, async (load) =>
        writeTextScript(texts, textPlan, await load(texts.map(({ text }) => text).join("\n"))),
      ),
    );
  const { further = [] } = plan;
  return further.map(({ role }, at) => {
    if (role === "subtitles" || role === "text") return keys[role].script;
    // A font follows its script.
    if (role === "font") return keys[further[at - 1]?.role === "text" ? "text" : "subtitles"].font;
    return extraInputKey(run_id, at);
  });
}

/** Loads the fonts for a text, in the order in which they are tried: those of the request, those of its scripts, and the host's. */
async function loadFonts(
  { font, scriptFonts, open }: ScriptTools,
  request: EncodeRequest,
  run_id: string,
  text: string,
): Promise<readonly Font[]> {
  if (!font) throw errors.fontMissing();
  const fonts: Font[] = [];
  let total = 0;
  for (const [at, { role, param }] of extraInputs(request).entries()) {
    if (role !== "fonts") continue;
    const reader = await open(extraInputKey(run_id, at));
    try {
      checkFontSize(total + reader.size);
      const file = await reader.read({ start: 0, end: reader.size });
      const bytes = await unpackFont(file, FONT_FILE.maxBytes - total);
      total += bytes.length;
      fonts.push(readFont(bytes));
    } catch (thrown) {
      throw withParam(param, thrown);
    }
  }
  const host = readFont(await font());
  const { missing } = fitText(text, anyHas([...fonts, host]));
  if (missing.length > 0 && scriptFonts) fonts.push(...(await loadScriptFonts(scriptFonts, missing, total)));
  return nameFonts([...fonts, host]);
}

// The renderer also draws the letters of a line that lie beyond the picture, and holds all of them in memory.
const MAX_LETTER_PIXELS = 64e6;

/**
 * Writes the script that shows each text for a second. Throws `invalid_options` when a text names another font, when all fonts lack a
 * letter, when its letters are too large, or when it lies entirely outside the pictures.
 */
export function writeTextScript(
  texts: readonly TextItem[],
  size: PictureSize,
  fonts: readonly Font[],
): Uint8Array {
  const hasLetter = anyHas(fonts);
  const scriptTexts = texts.map((option, at) => {
    const param = `options.text.${at}`;
    const own = fonts.filter(({ family }) => family === option.font);
    if (option.font !== undefined && own.length === 0)
      throw errors.fontUnknown({ param: `${param}.font`, families: fonts.map(({ family }) => family) });
    const { text, missing } = fitText(option.text.replaceAll("\r\n", "\n"), hasLetter);
    if (missing.length > 0) throw errors.lettersMissing({ param: `${param}.text`, letters: missing });
    const place = placeText(option, size);
    checkPlace(option.position, size, `${param}.position`);
    checkHeight(place.size, text.length, `${param}.size`);
    const [marked = text] = markBrackets([text]);
    return { ...place, runs: scriptRuns(marked, [...own, ...fonts], place.size) };
  });
  return new TextEncoder().encode(writeTexts(scriptTexts, size));
}

function checkPlace(position: TextItem["position"], size: PictureSize, param: string): void {
  if (position === undefined || typeof position === "string") return;
  const [left, , top] = placeAt(position, size).margins;
  if (left >= size.width || top >= size.height) throw errors.textOutside({ param, ...size });
}

function checkHeight(height: number, letters: number, param: string): void {
  const maxHeight = Math.floor(Math.sqrt(MAX_LETTER_PIXELS / letters));
  if (height > maxHeight) throw errors.lettersTooLarge({ param, maxHeight });
}

function anyHas(fonts: readonly Font[]): HasLetter {
  return (code) => fonts.some(({ hasLetter }) => hasLetter(code));
}

/** Splits a text among fonts, in which its letters have the same height. */
function scriptRuns(text: string, fonts: readonly Font[], height: number): ScriptRun[] {
  return splitByFont(text, fonts).map(({ text, font }) => ({
    text,
    font: font.scriptName,
    size: height * font.lineHeight,
  }));
}

export interface BurnedText {
  reader: ByteReader;
  plan: Plan;
  source: Source;
  options: SubtitleOptions;
  fonts: LoadFonts;
  signal: AbortSignal;
}

// More text at once would fill the picture and stall the renderer.
const MAX_VISIBLE = { cues: 32, letters: 4000 } as const;

/**
 * Writes the ASS file from which a plan's subtitles are drawn. Only the text, times and styles of the input get into it. Rejects
 * as `readTextFile` does, with `input_too_large` when too much is shown at once, with `invalid_options` when its letters are too large,
 * and with `input_unsupported` when all fonts lack a letter.
 */
export async function burnText({
  reader,
  plan,
  source,
  options,
  fonts: load,
  signal,
}: BurnedText): Promise<Uint8Array> {
  const { video } = plan;
  if (video?.mode !== "encode") throw errors.burnWithoutEncode();
  const { cues } = await readTextFile(reader, signal);
  const visibleCues = shiftCues(cues, shownRange(plan));
  const visibleLetters = countVisible(visibleCues);
  const fonts = await load(visibleCues.map(({ text }) => text).join("\n"));
  const { width, height } = video.geometry;
  const { lineHeight = 1 } = fonts.at(-1) ?? {};
  const { size: letters, position } = burntFile(options)?.style ?? {};
  const ownHeight = letters === undefined ? null : letterHeight(letters, { width, height });
  const style = `options.subtitles.${options.subtitles?.findIndex(({ burn }) => burn)}.style`;
  checkPlace(position, { width, height }, `${style}.position`);
  if (ownHeight !== null) checkHeight(ownHeight, visibleLetters, `${style}.size`);
  const size =
    ownHeight === null
      ? Math.max(8, Math.round(Math.min(width, height) * LINE_HEIGHT))
      : ownHeight * lineHeight;
  const look = {
    width,
    height,
    font: BURN_FONT.family,
    size,
    colors: captionScriptColors(options, graphicsWhite(source, video)),
    place: position && placeAt(position, { width, height }),
    split: (text: string, size: number) => scriptRuns(text, fonts, size / lineHeight),
  };
  return new TextEncoder().encode(writeAss(fitCues(visibleCues, anyHas(fonts)), look));
}

// Share of the picture's shorter side.
const LINE_HEIGHT = 1 / 15;

function fitCues(cues: readonly Cue[], hasLetter: HasLetter): Cue[] {
  const missing = new Set<string>();
  const fittedCues = cues.map((cue) => {
    const fitted = fitText(cue.text, hasLetter);
    for (const letter of fitted.missing) missing.add(letter);
    return { ...cue, text: fitted.text };
  });
  if (missing.size === 0) return fittedCues;
  throw errors.burntLettersMissing([...missing]);
}

/** Returns the most letters that are visible at once; throws `input_too_large` for too many. */
function countVisible(cues: readonly Cue[]): number {
  let visible: Cue[] = [];
  let maxLetters = 1;
  for (const cue of cues) {
    visible = [...visible.filter(({ end }) => end > cue.start), cue];
    const letters = visible.reduce((sum, { text }) => sum + text.length, 0);
    if (visible.length > MAX_VISIBLE.cues || letters > MAX_VISIBLE.letters)
      throw errors.tooMuchText(MAX_VISIBLE);
    maxLetters = Math.max(maxLetters, letters);
  }
  return maxLetters;
}
