import { MediaError } from "../media/errors.ts";
import { MIB } from "../util/bytes.ts";

export const largeFile = ({ maxBytes }: { maxBytes: number }) =>
  new MediaError("input_too_large", `The file must be subtitles of at most ${maxBytes / MIB} MiB.`);
export const notUnicode = () =>
  new MediaError("input_unsupported", "The file must be text in UTF-8, or in UTF-16 with a byte order mark.");
export const formatUnknown = () =>
  new MediaError("input_unsupported", "The file must be subtitles in SRT, WebVTT, ASS or SSA.");
export const longCue = ({ maxLength }: { maxLength: number }) =>
  new MediaError("input_too_large", `No text of the file can have more than ${maxLength} letters.`);
export const tooMuchText = ({ cues, bytes }: { cues: number; bytes: number }) =>
  new MediaError(
    "input_too_large",
    `An output can hold ${cues.toLocaleString("en")} cues and ${bytes / MIB} MiB of text, in all of its tracks.`,
  );
export const fontLettersUnlisted = () => new RangeError("The font has no table of all its letters.");
export const fontTableMissing = ({ name }: { name: string }) =>
  new RangeError(`The font has no table ${name}.`);
export const largeFont = ({ maxBytes }: { maxBytes: number }) =>
  new MediaError("input_too_large", `All fonts together can have at most ${maxBytes / MIB} MiB.`);
