import { MediaError } from "../../media/errors.ts";

interface Cause {
  cause?: unknown;
}

/** A file that a page loads: its role in messages, and its own name. */
interface LoadedFile extends Cause {
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

/** `fault` is an HTTP status, or what else went wrong. */
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

export const inputMissing = (cause: Cause) =>
  new MediaError("input_not_found", "The file no longer exists.", cause);
export const inputChanged = (cause?: Cause) =>
  new MediaError("input_unreachable", "The file can no longer be read: it was changed, moved or removed.", {
    ...cause,
    retryable: false,
  });
export const outputUnstorable = (cause: Cause) =>
  new MediaError("out_of_memory", "The browser has no room left for the output.", cause);

export const memoryUnavailable = () =>
  new MediaError("out_of_memory", "The browser has no memory left for the encoder.");
export const coreMissing = () => new MediaError("worker_lost", "The encoder worker has no core.");
export const workerCrashed = () => new MediaError("worker_lost", "The encoder worker broke down.");
export const workerSilent = ({ seconds }: { seconds: number }) =>
  new MediaError("stalled", `The encoder gave no sign of life for ${Math.round(seconds)} seconds.`);
export const workerAbandoned = () => new MediaError("worker_lost", "The worker is no longer needed.");
export const poolClosed = () => new MediaError("worker_lost", "The encoder was closed.");
export const reportMissing = () => new MediaError("probe_failed", "The encoder worker returned no report.");

export const threadedCoreMissing = () => new RangeError("There is no threaded core.");
export const threadedCoreUsed = () =>
  new MediaError("encode_failed", "The threaded encoder has already run its one job.");
export const threadedProbe = () => new MediaError("probe_failed", "The threaded encoder cannot probe files.");
export const threadedCoreCrashed = (cause: Cause) =>
  new MediaError("encode_failed", "The threaded encoder broke down on this file.", cause);

export const wasmUnloaded = ({ status }: { status: number }) =>
  new Error(`The core could not be loaded: status ${status}.`);
export const ffprobeMissing = () => new Error("The fast core has no ffprobe.");
export const pathMissing = ({ path }: { path: string }) =>
  new Error(`There is no ${path}, or not all of its folders.`);
