import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";
import type { Source } from "../../core/source.ts";
import { graphicsWhite } from "../../ffmpeg/color.ts";
import { BURN_FONT } from "../../media/features/subtitles.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Cue, shiftCues } from "../../subtitles/cue.ts";
import { fitText, readFontLetters } from "../../subtitles/font-letters.ts";
import { writeAss } from "../../subtitles/write-ass.ts";
import { shownBy } from "./subtitle-track.ts";
import { readTextFile } from "./text-file.ts";

export interface BurnedText {
  reader: ByteReader;
  plan: Plan;
  source: Source;
  font: Uint8Array;
  signal: AbortSignal;
}

/** What is drawn at once: more fills a picture, and takes an encoder without end. */
const MOST_SHOWN = { cues: 32, letters: 4000 } as const;
const MOST_NAMED = 8;

/**
 * Writes the ASS from which a plan's subtitles are drawn, as its output shows them; nothing of the file but its text, its times
 * and faces gets into it. Rejects as `readTextFile` does, with `input_too_large` when too much is shown at once, and with
 * `input_unsupported` when the font lacks a letter.
 */
export async function burnText({ reader, plan, source, font, signal }: BurnedText): Promise<Uint8Array> {
  const { video } = plan;
  if (video?.mode !== "encode") throw new RangeError("Subtitles are drawn into encoded pictures.");
  const { cues } = await readTextFile(reader, signal);
  const shown = shiftCues(cues, shownBy(plan));
  checkCrowd(shown);
  const { width, height } = video.geometry;
  const look = { width, height, font: BURN_FONT.family, white: graphicsWhite(source, video) };
  return new TextEncoder().encode(writeAss(inFont(shown, font), look));
}

function inFont(cues: readonly Cue[], font: Uint8Array): Cue[] {
  const has = readFontLetters(font);
  const missing = new Set<string>();
  const fitted = cues.map((cue) => {
    const fit = fitText(cue.text, has);
    for (const letter of fit.missing) missing.add(letter);
    return { ...cue, text: fit.text };
  });
  if (missing.size === 0) return fitted;
  const named = [...missing].slice(0, MOST_NAMED).join(" ");
  const more = missing.size > MOST_NAMED ? ` and ${missing.size - MOST_NAMED} more` : "";
  const message = `The font of burnt-in subtitles has no letters for ${named}${more}. Without burn they become a track, which players draw.`;
  throw new MediaError("input_unsupported", message);
}

function checkCrowd(cues: readonly Cue[]): void {
  let shown: Cue[] = [];
  for (const cue of cues) {
    shown = [...shown.filter(({ end }) => end > cue.start), cue];
    const letters = shown.reduce((sum, { text }) => sum + text.length, 0);
    if (shown.length <= MOST_SHOWN.cues && letters <= MOST_SHOWN.letters) continue;
    const most = `${MOST_SHOWN.cues} texts and ${MOST_SHOWN.letters.toLocaleString("en")} letters`;
    throw new MediaError("input_too_large", `At most ${most} can be burnt in at once.`);
  }
}
