import { type ErrorKind, MediaError } from "../media/errors.ts";
import type { Refusal } from "../media/refusal.ts";
import { describeRefusals } from "../media/words.ts";
import { MIB } from "../util/bytes.ts";

interface Named {
  name: string;
}

interface Cause {
  cause: unknown;
}

interface Broken {
  /** The kind to report for a stream that breaks the protocol. */
  kind: ErrorKind;
}

export const inputDamaged = () => new MediaError("input_unsupported", "The input is damaged or cut off.");
export const notMedia = ({ isCutOff }: { isCutOff: boolean }) =>
  new MediaError(
    "input_unsupported",
    `The input is not media that can be read here${isCutOff ? ": it is damaged or cut off" : ""}.`,
  );
export const tooManyFrames = ({ max }: { max: number }) =>
  new MediaError("input_too_large", `An animated WebP may have at most ${max} frames.`);

export const animationDamaged = () => new MediaError("encode_failed", "The encoded animation is damaged.");
export const waveformSoundMissing = () =>
  new MediaError("encode_failed", "The encoder returned no sound that a waveform can be drawn from.");
export const tooManyPoints = ({ max }: { max: number }) =>
  new MediaError(
    "encode_failed",
    `The waveform would have more than ${max} points; use more samples per pixel.`,
  );
export const peaksDamaged = () =>
  new MediaError("encode_failed", "The encoder returned a broken list of peaks.");
export const noPeaks = () => new RangeError("There are no peaks to join.");
export const pngDamaged = (cause?: Cause) =>
  new MediaError(
    "encode_failed",
    "The quality could not be measured, because a trial picture is a damaged PNG; choose a quality other than auto.",
    cause,
  );
export const thumbnailUnread = () =>
  new MediaError("internal_error", "The thumbnail is a PNG of an unexpected type.");

export const frameCutOff = ({ kind }: Broken) => new MediaError(kind, "The message ends too early.");
export const notFrame = ({ kind }: Broken) => new MediaError(kind, "The message is not a frame.");

export const pictureUnreadable = (cause?: Cause) =>
  new MediaError("input_unsupported", "The picture is damaged, or this browser cannot decode it.", cause);
export const heicDecoderUnloaded = (cause: Cause) =>
  new MediaError("encoder_unavailable", "The decoder of HEIC could not be loaded.", {
    ...cause,
    retryable: true,
  });
export const canvasMissing = () =>
  new MediaError("encoder_unavailable", "This browser has no canvas to draw on.");
export const noPictureToEncode = () => new MediaError("encode_failed", "There is no picture to encode.");
export const formatUnwritten = ({ format }: { format: string }) =>
  new MediaError("encode_failed", `This browser wrote no ${format}.`);
export const avifUnencoded = () =>
  new MediaError("encode_failed", "The AVIF encoder could not encode the picture.");
export const avifUnloaded = (cause: Cause) =>
  new MediaError("encoder_unavailable", "The AVIF encoder could not be loaded.", {
    ...cause,
    retryable: true,
  });
export const httpStatus = ({ status }: { status: number }) => new RangeError(`HTTP ${status}`);

export const noPictures = () => new MediaError("input_no_video", "The source has no readable pictures.");
export const codecUnsupported = () =>
  new MediaError("input_unsupported", "This browser cannot decode the source's pictures.");
export const picturesUnreadable = (cause: Cause) =>
  new MediaError("encode_failed", "The source's pictures could not be decoded to the end.", cause);
export const emptySpan = () =>
  new MediaError("encode_failed", "There are no pictures in this span of the source.");

export const refused = ({ refusals }: { refusals: readonly Refusal[] }) =>
  new MediaError("encoder_unavailable", describeRefusals(refusals), { refusals });
export const noPicturesToEncode = () => new MediaError("encode_failed", "There are no pictures to encode.");
export const browserEncoderFailed = ({ codec, cause }: Cause & { codec: string }) =>
  new MediaError("encode_failed", `The browser's ${codec} encoder failed.`, { cause });
export const browserEncoderClosed = () => new MediaError("encode_failed", "The browser's encoder is closed.");
export const encodeCancelled = () => new MediaError("encode_failed", "The encode was cancelled.");
export const soundMissing = () => new MediaError("encode_failed", "The sound encoder returned no file.");
export const noCanvas = () => new RangeError("This browser has no canvas to draw on.");
export const renditionEncoderMissing = ({ rendition }: { rendition: string }) =>
  new RangeError(`There is no encoder for ${rendition}.`);

const seconds = (value: number) => Number(value.toFixed(3));

const streamIncomplete = (reason: string) =>
  new MediaError("encode_failed", `The encoded stream is incomplete: ${reason}.`);

export const emptyPlan = () => new MediaError("internal_error", "The plan has nothing to encode.");
export const contentKeyMissing = () =>
  new MediaError("encode_failed", "The key of the encryption is missing.");
export const maxBytesTooSmall = ({ maxBytes, leastBytes }: { maxBytes: number; leastBytes: number }) =>
  new MediaError(
    "invalid_options",
    `options.max_bytes (${maxBytes}) is too small for this picture; at its lowest quality and size it takes ${leastBytes}.`,
    {
      param: "options.max_bytes",
      reason: { code: "bytes_too_few", max_bytes: maxBytes, least_bytes: leastBytes },
    },
  );

export const emptyFile = ({ encoder }: { encoder: string }) =>
  new MediaError("encode_failed", `The ${encoder} encoder returned an empty file.`);
export const noFiles = () => new MediaError("encode_failed", "The encoder returned no files.");
export const severalFiles = () => new MediaError("encode_failed", "The encoder returned more than one file.");
export const unexpectedStream = () =>
  new MediaError("encode_failed", "The encoder returned a stream instead of files.");
export const storedFileDiffers = () =>
  new MediaError("encode_failed", "The stored file differs from what the encoder reported.");

export const incomplete = ({
  pictures,
  expectedPictures,
  firstAt,
  sound,
  expectedSound,
}: {
  /** Missing pictures. */
  pictures: number;
  expectedPictures: number;
  /** Time of the first missing picture in seconds; null when unknown. */
  firstAt: number | null;
  /** Missing sound in seconds. */
  sound: number;
  expectedSound: number;
}) => {
  const first = firstAt === null ? "" : `, the first at ${seconds(firstAt)} s`;
  const parts = [
    ...(pictures > 0 ? [`${pictures} of ${expectedPictures} pictures are missing${first}`] : []),
    ...(sound > 0 ? [`${seconds(sound)} of ${seconds(expectedSound)} s of sound are missing`] : []),
  ];
  return new MediaError("encode_incomplete", `The encode is incomplete: ${parts.join("; ")}.`);
};
export const soundTooLong = ({ excess }: { excess: number }) =>
  new MediaError(
    "encode_failed",
    `The output's sound is ${seconds(excess)} s too long: the input's sound may change its channels or sample rate midway, or have contradictory times.`,
  );
export const soundChanged = ({ missing }: { missing: number }) =>
  new MediaError(
    "encode_failed",
    `The output's sound is ${seconds(missing)} s too short, because the channels or sample rate of the input's sound change midway; convert the whole input, without start and end.`,
  );
export const tooManyPictures = ({ extra }: { extra: number }) =>
  new MediaError(
    "encode_failed",
    `The output has ${extra} more pictures than the input: the input may have contradictory times.`,
  );
export const picturesMissing = ({
  of,
  missing,
  count,
}: {
  of: "sheets" | "stills";
  missing: number;
  count: number;
}) =>
  new MediaError("encode_incomplete", `The encode is incomplete: ${missing} of ${count} ${of} are missing.`);

export const leadUnknown = ({ name }: Named) =>
  streamIncomplete(`the first picture of ${name} was not found`);
export const renditionsMissing = ({ chunk }: { chunk: number }) =>
  streamIncomplete(`chunk ${chunk} lacks some of its renditions`);
export const streamMissing = ({ name }: Named) => streamIncomplete(`there is nothing of ${name}`);
export const initMissing = ({ chunk, playlist }: { chunk: number; playlist: string }) =>
  streamIncomplete(`chunk ${chunk} names no init segment in ${playlist}`);
export const segmentMissing = ({ name }: Named) => streamIncomplete(`${name} is missing`);
export const segmentUnlisted = ({ name }: Named) => streamIncomplete(`${name} is in no playlist`);
export const segmentRepeated = ({ name }: Named) => streamIncomplete(`${name} is listed twice`);
export const codecUnknown = ({ name }: Named) => streamIncomplete(`the codec of ${name} is unknown`);

export const coreUnstarted = (cause: Cause) =>
  new MediaError("worker_lost", "The encoder could not be started.", cause);
export const coreCrashed = ({ summary, cause }: Cause & { summary: string }) =>
  new MediaError(
    "encode_failed",
    `The encoder crashed on this file.${summary ? ` The last message: ${summary}` : ""}`,
    { cause },
  );
export const coreUnusable = () => new MediaError("encode_failed", "The encoder crashed in an earlier run.");
export const probeUnsupported = () => new MediaError("probe_failed", "The fast core cannot probe files.");
export const coreMemoryUnavailable = (cause: Cause) =>
  new MediaError("out_of_memory", "There is no memory left for the encoder.", cause);
export const memoryExceeded = ({ maxBytes }: { maxBytes: number }) =>
  new MediaError(
    "out_of_memory",
    `The work needs more memory than the ${Math.round(maxBytes / MIB)} MB that this encoder has.`,
  );
export const largeInput = ({ job, maxBytes }: { job: "probe" | "encode"; maxBytes: number }) =>
  new MediaError(
    job === "probe" ? "probe_failed" : "encoder_unavailable",
    `More than ${Math.round(maxBytes / MIB)} MB of the input would have to be in memory at once.`,
  );
export const outputBlockMissing = ({ index }: { index: number }) =>
  new Error(`The output has no block ${index}.`);

interface LoadCause {
  cause?: unknown;
}

/** A file that a page loads: its role in messages, and its own name. */
interface LoadedFile extends LoadCause {
  role: string;
  file: string;
}

const LOAD_FAULTS = {
  unanswered: "no answer",
  stalled: "the download stalled",
  disconnected: "the connection broke",
} as const;
const CONTENT_FAULTS = {
  long: "it is too long",
  damaged: "it is damaged or cut off",
  different: "its contents differ",
} as const;

const unexpectedFile = ({ role, file, cause }: LoadedFile, clause: string) =>
  new MediaError("encoder_unavailable", `The ${role} is not the expected file (${file}: ${clause}).`, {
    cause,
  });

/** `fault` is an HTTP status or another reason. */
export const fileUnloaded = ({
  role,
  file,
  cause,
  fault,
}: LoadedFile & { fault: keyof typeof LOAD_FAULTS | number }) =>
  new MediaError(
    "encoder_unavailable",
    `The ${role} could not be loaded (${file}: ${typeof fault === "number" ? `status ${fault}` : LOAD_FAULTS[fault]}).`,
    { cause, retryable: true },
  );
export const fileUnexpected = ({ fault, ...file }: LoadedFile & { fault: keyof typeof CONTENT_FAULTS }) =>
  unexpectedFile(file, CONTENT_FAULTS[fault]);
export const fileCutOff = ({ bytes, expected, ...file }: LoadedFile & { bytes: number; expected: number }) =>
  unexpectedFile(file, `it is cut off at ${bytes} of ${expected} bytes`);
export const insecureContext = () =>
  new MediaError("encoder_unavailable", "The core cannot be checked: the page is not in a secure context.");

export const inputMissing = (cause: LoadCause) =>
  new MediaError("input_not_found", "The file no longer exists.", cause);
export const inputChanged = (cause?: LoadCause) =>
  new MediaError("input_unreachable", "The file can no longer be read: it was changed, moved or removed.", {
    ...cause,
    retryable: false,
  });
export const outputUnstorable = (cause: LoadCause) =>
  new MediaError("out_of_memory", "The browser has no room left for the output.", cause);

export const memoryUnavailable = () =>
  new MediaError("out_of_memory", "The browser has no memory left for the encoder.");
export const coreMissing = () => new MediaError("worker_lost", "The encoder worker has no core.");
export const workerCrashed = () => new MediaError("worker_lost", "The encoder worker crashed.");
export const workerSilent = ({ seconds }: { seconds: number }) =>
  new MediaError("stalled", `The encoder gave no sign of life for ${Math.round(seconds)} seconds.`);
export const workerAbandoned = () => new MediaError("worker_lost", "The worker is no longer needed.");
export const poolClosed = () => new MediaError("worker_lost", "The encoder was closed.");
export const reportMissing = () => new MediaError("probe_failed", "The encoder worker returned no report.");

export const threadedCoreMissing = () => new RangeError("There is no threaded core.");
export const threadedCoreUsed = () =>
  new MediaError("encode_failed", "The threaded encoder has already run its one job.");
export const threadedProbe = () => new MediaError("probe_failed", "The threaded encoder cannot probe files.");
export const threadedCoreCrashed = (cause: LoadCause) =>
  new MediaError("encode_failed", "The threaded encoder crashed on this file.", cause);

export const wasmUnloaded = ({ status }: { status: number }) =>
  new Error(`The core could not be loaded: status ${status}.`);
export const ffprobeMissing = () => new Error("The fast core has no ffprobe.");
export const pathMissing = ({ path }: { path: string }) =>
  new Error(`There is no ${path}, or not all of its folders.`);

export const notLightJob = () =>
  new MediaError("request_invalid", "The message is not a job for the light encoder.");
export const largeRequest = ({ maxBytes }: { maxBytes: number }) =>
  new MediaError("payload_too_large", `At most ${maxBytes} bytes of input are accepted.`);

export const scatteredInput = ({ job }: { job: "probe" | "encode" }) =>
  new MediaError(
    job === "probe" ? "probe_failed" : "encoder_unavailable",
    "The input's layout would require reading from too many places.",
  );
export const shortInput = () =>
  new MediaError("input_unreachable", "The input is shorter than its stated size.");
export const lightLost = (cause?: { cause: unknown }) =>
  new MediaError("worker_lost", "The light encoder went away during the work.", cause);
export const lightStatus = ({ status }: { status: number }) =>
  new MediaError("worker_lost", `The light encoder answered with status ${status}.`);
export const lightReportMissing = () =>
  new MediaError("probe_failed", "The light encoder returned no report.");
export const jobTypeInvalid = ({ mime }: { mime: string }) =>
  new MediaError("request_invalid", `The body must be of type ${mime}.`);
export const lightQueueFull = () =>
  new MediaError("service_unavailable", "The light encoder is busy; try again soon.");
export const lightPlaceLost = () =>
  new MediaError("service_unavailable", "The job lost its place in the queue.");
export const lightJobLate = () => new MediaError("timeout", "The job did not arrive in time.");
export const lightInputLate = () => new MediaError("timeout", "The input did not arrive in time.");
export const lightRequestLate = () => new MediaError("timeout", "The request did not end in time.");
export const lightAnswerLate = () => new MediaError("timeout", "The answer was not read in time.");

export const jobUrlsMissing = () =>
  new MediaError(
    "encoder_unavailable",
    "The native encoder is on another machine, but the job has no URLs to read from and write to.",
  );
export const nativeUnreachable = ({ name, cause }: Named & Cause) =>
  new MediaError("worker_lost", `The native encoder ${name} cannot be reached.`, { cause });
export const nativesUnreachable = (cause: Cause) =>
  new MediaError("worker_lost", "No native encoder can be reached.", cause);
export const nativesBusy = () =>
  new MediaError(
    "service_unavailable",
    "The picture needs a native encoder, and all of them are busy; try again in a few seconds.",
  );

export const nativeStatus = ({ name, status, cause }: Named & Cause & { status: number }) =>
  new MediaError(
    "worker_lost",
    `The native encoder ${name} ${status === 404 ? "has lost the job" : `answered with status ${status}`}.`,
    { cause },
  );
export const nativeAnswerMalformed = () =>
  new MediaError("worker_lost", "The native encoder's answer is malformed.");
export const nativeRejected = ({
  name,
  work,
  message,
}: Named & { work: "job" | "picture"; message: string }) =>
  new MediaError("encode_failed", `The native encoder ${name} did not accept the ${work}: ${message}`);

export const nativeLate = ({ seconds }: { seconds: number }) =>
  new Error(`did not answer within ${seconds} s`);
export const nativeEndless = () => new Error("gave an endless answer");
export const nativePictureStatus = ({ status }: { status: number }) =>
  new Error(`answered with status ${status}`);
export const proxyAnswer = () => new Error("Only a proxy answered.");
export const noNativeEncoder = () => new Error("There is no native encoder.");
