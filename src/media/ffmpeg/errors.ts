import { quote } from "../../util/text.ts";
import { MediaError } from "../errors.ts";

/** ffmpeg's log, as the cause of an error. */
interface Log {
  log?: string | undefined;
}

export const noStreams = () =>
  new MediaError("input_unsupported", "The file has no readable sound or pictures.");
export const pictureSizeUnreadable = () =>
  new MediaError("input_unsupported", "The size of the pictures cannot be read.");

export const tilted = ({ degrees }: { degrees: number }) =>
  new MediaError(
    "input_unsupported",
    `The file asks players to turn its pictures by ${degrees} degrees; only turns by 90, 180 and 270 are supported.`,
  );

export const diskFull = ({ log }: Log = {}) =>
  new MediaError("storage_full", "The encoder's disk has no room for the output.", { cause: log });
export const terminated = ({ log }: Log) =>
  new MediaError("worker_lost", "The encoder was terminated from outside; try again.", { cause: log });
export const inputCutOff = ({ log }: Log = {}) =>
  new MediaError("input_unsupported", "The input is damaged or cut off.", { cause: log });
export const inputEndsEarly = () =>
  new MediaError(
    "input_unsupported",
    "The input ends earlier than its headers say: they are wrong, or it is cut off.",
  );
export const partBeyondEnd = ({ start, end }: { start: number; end: number }) =>
  new MediaError(
    "invalid_options",
    `The part from ${start} to ${Number(end.toFixed(3))} s extends beyond the end of the source; shorten or remove it.`,
    { param: "options.parts" },
  );
export const streamMissing = ({ log }: Log) =>
  new MediaError("input_unsupported", "The input lacks a stream that it claims to have.", { cause: log });
export const inputUnreadable = ({ log }: Log) =>
  new MediaError("input_unsupported", "The input cannot be read: it is damaged, or is not media.", {
    cause: log,
  });
export const packetsUntimed = ({ log }: Log) =>
  new MediaError("input_unsupported", "The input is damaged: it does not say when all its packets play.", {
    cause: log,
  });
export const outOfMemory = ({ log }: Log) =>
  new MediaError("out_of_memory", "The work needs more memory than this encoder has.", { cause: log });
export const crashed = ({ log, signal }: Log & { signal: string }) =>
  new MediaError("encode_failed", `ffmpeg crashed (${signal}).`, { cause: log });
export const failed = ({ log, message }: Log & { message: string | undefined }) =>
  new MediaError(
    "encode_failed",
    message ? `ffmpeg failed: ${message}.` : "ffmpeg failed without a message.",
    { cause: log },
  );
export const rangeEmpty = () =>
  new MediaError("encode_failed", "The input has nothing in the requested time range.");
export const nothingDecoded = () =>
  new MediaError(
    "input_unsupported",
    "Nothing in the input can be decoded: it is damaged, or a variant that this encoder cannot read.",
  );

export const loudnessChanges = () =>
  new MediaError(
    "input_unsupported",
    "The sound changes its channels or sample rate midway, so its loudness cannot be measured: leave out normalize.",
  );
export const loudnessUnmeasured = () =>
  new MediaError("encode_failed", "The loudness of the sound could not be measured.");

export const encoderMissing = ({ tools, codec }: { tools: string; codec: string }) =>
  new RangeError(`${tools} has no ${codec} encoder.`);
export const muxerMissing = ({ format }: { format: string }) => new RangeError(`No muxer for ${format}.`);
export const formatUnknown = ({ format, kind }: { format: string; kind: string }) =>
  new RangeError(`Unknown format ${format} of ${kind}.`);
export const joinedSoundCopied = () => new RangeError("Joined sound is encoded.");
export const filterPathUnsafe = ({ path }: { path: string }) =>
  new RangeError(`The path ${quote(path)} contains characters that ffmpeg's filters interpret.`);
