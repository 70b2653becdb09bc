import { type FallbackFault, MediaError } from "../media/errors.ts";
import { CONNECTION_USERS } from "../runs/errors.ts";

const DETACHED = "whose bytes were transferred elsewhere";

function clauseOf(value: unknown): string {
  if (typeof value === "function" || typeof value === "symbol") return `is a ${typeof value}`;
  if (value instanceof ArrayBuffer) return `is a detached ArrayBuffer, ${DETACHED}`;
  if (ArrayBuffer.isView(value)) return `is a view of a detached ArrayBuffer, ${DETACHED}`;
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (tag !== "Object" && tag !== "Array") return `is a ${tag}, which cannot be sent to a worker`;
  return "is not a plain object, but for example a Proxy of a framework's state; pass a plain copy";
}

/** `path` is that of the value in the request; empty for the request itself. */
export const valueUnsendable = ({ path, value, cause }: { path: string; value: unknown; cause: unknown }) =>
  new MediaError(
    "request_invalid",
    `${path || "The request"} ${clauseOf(value)}; a request may contain strings, numbers, booleans, null, and arrays and plain objects of these.`,
    { cause, ...(path && { param: path }) },
  );
export const requestUnsent = ({ cause }: { cause: unknown }) =>
  new MediaError(
    "internal_error",
    `The browser could not hand the request to its worker: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  );
export const callUnknown = ({ name }: { name: string }) =>
  new MediaError("internal_error", `There is no call ${name}.`);
export const slowDrawing = ({ seconds }: { seconds: number }) =>
  new MediaError("timeout", `The SVG takes longer than ${seconds} seconds to draw.`, { retryable: false });

type Run = "task" | "step" | "job";

/** The user of a connection: a part of a request, or the URL of a bucket. */
export type ConnectionUser = keyof typeof CONNECTION_USERS | `s3://${string}`;

/** Why the fallback did not take over work that no encoder in the page can do; appended to the error of that work. */
export const fallbackFaults: Readonly<Record<FallbackFault, string>> = {
  standalone_step: "The fallback was not asked: it runs tasks, and this step stands alone.",
  missing: "This page has no fallback to ask.",
  failed: "The fallback did not do it:",
};

export const notFound = (object: Run) =>
  new MediaError(`${object}_not_found`, `There is no ${object} with that id.`);
export const finished = (object: Run) => new MediaError(`${object}_finished`, `The ${object} is finished.`);
export const stepOfTask = ({ taskId, method }: { taskId: string; method: "cancel" | "delete" }) =>
  new MediaError(
    "request_invalid",
    `The step belongs to a task; ${method} that: tasks.${method}("${taskId}").`,
  );
export const runBroken = () => new MediaError("internal_error", "The run was interrupted; create it again.");

export const webhookUnsupported = () =>
  new MediaError(
    "request_invalid",
    "webhook_url is for the service; a page observes its own tasks with on().",
    { param: "webhook_url" },
  );
export const inputRefused = ({ param, message }: { param: string; message: string }) =>
  new MediaError("invalid_input", `${param}: ${message}`, { param });

export const noVisitorFile = () =>
  new MediaError("invalid_input", "The run has no file from the visitor.", { param: "file" });
export const fileDiffers = ({ name, bytes }: { name: string; bytes: number }) =>
  new MediaError(
    "invalid_input",
    `This is not the file that the run began with: ${name} of ${bytes} bytes.`,
    { param: "file" },
  );
export const fileUnreadable = () =>
  new MediaError("input_unreachable", "The file of the run cannot be read.", { retryable: false });
export const fileMissing = () => new MediaError("input_not_found", "The file no longer exists.");

export const storageFull = ({ cause }: { cause: unknown }) =>
  new MediaError("storage_full", "The browser has no room left for the files of this task.", { cause });
export const sampleEnded = () =>
  new MediaError("service_unavailable", "The estimate, preview or filmstrip was stopped.", {
    retryable: false,
  });
export const objectMissing = ({ key }: { key: string }) =>
  new MediaError("media_not_found", `Nothing is stored as ${key}.`);

export const connectionNotFound = ({ param }: { param: string }) =>
  new MediaError("connection_not_found", "There is no connection with that id.", { param });
export const connectionRequired = ({ param, user }: { param: string; user: ConnectionUser }) =>
  new MediaError(
    "connection_required",
    `${user in CONNECTION_USERS ? CONNECTION_USERS[user as keyof typeof CONNECTION_USERS] : user} needs a connection: give the client one, as connections: [{ … }].`,
    { param },
  );
export const destinationMissing = () => new MediaError("internal_error", "The run has no destination.");
export const uploadFileMissing = () =>
  new MediaError("upload_failed", "The file to upload is no longer in storage.");
export const lateSignature = () =>
  new MediaError("upload_failed", "The page returned no signed URL within a minute.");

export const encoderCrashed = ({ encoder }: { encoder: string }) =>
  new MediaError("worker_lost", `The ${encoder} encoder crashed.`);
export const encoderSilent = ({ encoder, seconds }: { encoder: string; seconds: number }) =>
  new MediaError("stalled", `The ${encoder} encoder was silent for ${seconds} seconds.`);
export const pictureMissing = () => new MediaError("encode_failed", "The decoder returned no picture.");
export const notHere = () => new RangeError("The work is done in a worker.");

interface Cause {
  cause: unknown;
}

/** `names` are the globals that this environment lacks. */
export const notPage = ({ names }: { names: readonly string[] }) =>
  new MediaError(
    "service_unavailable",
    `The local client runs in a page, and there is no ${names.join(" and no ")} here, as on a server or in Node. ` +
      "Call it in the browser, or use createRemoteClient of framewright/client.",
    { retryable: false },
  );
export const insecurePage = () =>
  new MediaError(
    "service_unavailable",
    "The local client needs a page that is served over https:// or from localhost: the browser denies others files and locks.",
    { retryable: false },
  );
export const workerUnstarted = ({ reason, cause }: { reason: string; cause?: unknown }) =>
  new MediaError(
    "worker_lost",
    `The media worker could not be started: ${reason}. If your bundler did not find it, serve dist/workers and dist/core of the package side by side on the page's own origin, and name the first as workers: "/…/workers/".`,
    { cause },
  );

export const clickMissing = ({ name, cause }: Cause & { name: string }) =>
  new MediaError(
    "input_unreachable",
    `The browser asks whether ${name} may be read only after a click: call resume() from its handler, or pass the file, chosen again.`,
    { cause, retryable: false },
  );
export const permissionDenied = ({ name }: { name: string }) =>
  new MediaError(
    "input_unreachable",
    `The visitor did not allow ${name} to be read: pass the file, chosen again, to resume().`,
    { retryable: false },
  );

export const runDeleted = ({ object, id }: { object: "task" | "step"; id: string }) =>
  new MediaError(`${object}_not_found`, `The ${object} ${id} was deleted.`);
export const outputMissing = (cause?: Cause) =>
  new MediaError(
    "media_not_found",
    "This file no longer exists; outputs are kept for a limited time.",
    cause,
  );
export const outputFileMissing = () =>
  new MediaError("media_not_found", "A file of the output no longer exists.");

export const drawingUnavailable = () =>
  new MediaError("encoder_unavailable", "Only a page can draw an SVG, and this client runs in a worker.");
export const drawingUnloaded = (cause: Cause) =>
  new MediaError("encoder_unavailable", "The drawing of SVG could not be loaded.", {
    ...cause,
    retryable: true,
  });
export const svgUnreadable = (cause: Cause) =>
  new MediaError("input_unsupported", "The SVG is damaged, or this browser cannot draw it.", cause);
export const pixelMemoryMissing = () =>
  new MediaError("out_of_memory", "The browser has no memory for the pixels of the SVG.");

export const signedUrlMissing = () => new MediaError("upload_failed", "The page returned no signed URL.");
export const unsigned = (cause: Cause) =>
  new MediaError("upload_failed", "The page could not get the storage request signed.", cause);
