import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";
import type { Cue } from "../../subtitles/cue.ts";
import { decodeSubtitles, readSubtitleFile, type SubtitleFormat } from "../../subtitles/subtitle-file.ts";
import { LONGEST_TEXT } from "../../subtitles/timed-blocks.ts";
import { MIB } from "../../util/bytes.ts";
import { createCueList, MOST, type Room } from "./subtitle-track.ts";

/** Bytes of a file of subtitles that is read; those of the longest films are a hundredth of that. */
const MOST_BYTES = 8 * MIB;

/** Throws `input_too_large` for a file of subtitles of so many bytes, unless it is read. */
export function checkTextSize(bytes: number): void {
  if (bytes <= MOST_BYTES) return;
  throw new MediaError("input_too_large", `It must be subtitles of at most ${MOST_BYTES / MIB} MiB.`);
}

/**
 * Reads a file of subtitles within what the text of an output may take. Rejects with `input_unsupported` when it is none, and
 * `input_too_large` when it holds more.
 */
export async function readTextFile(
  reader: ByteReader,
  signal: AbortSignal,
  room: Room = { ...MOST },
): Promise<{ format: SubtitleFormat; cues: readonly Cue[] }> {
  checkTextSize(reader.size);
  const text = decodeSubtitles(await reader.read({ start: 0, end: reader.size }, signal));
  if (text === null) throw new MediaError("input_unsupported", ENCODING);
  const found = readSubtitleFile(text);
  if (!found) throw new MediaError("input_unsupported", FORMAT);
  const list = createCueList(room);
  for (const cue of found.cues) {
    if (!cue) throw new MediaError("input_too_large", LONG);
    const { start, end, ...shown } = cue;
    list.add({ start, end }, shown, 0);
    if (!list.whole) throw tooMuchText();
  }
  return { format: found.format, cues: list.cues };
}

/** Creates the error of subtitles past what an output may hold. */
export function tooMuchText(): MediaError {
  const most = `${MOST.cues.toLocaleString("en")} cues and ${MOST.bytes / MIB} MiB of text`;
  return new MediaError("input_too_large", `An output can hold ${most}, in all of its tracks.`);
}

const ENCODING = "It must be text in UTF-8, or in UTF-16 with a byte order mark.";
const LONG = `None of its texts can have more than ${LONGEST_TEXT} letters.`;
const FORMAT = "It must be subtitles in SRT, WebVTT, ASS or SSA.";
