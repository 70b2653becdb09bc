import { type FallbackFault, MediaError } from "../../media/errors.ts";

type Run = "task" | "step" | "job";

const CONNECTION_USERS = {
  input: "An s3:// input",
  output: "An S3 output",
  upload: "An upload",
} as const;
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
export const notCancellable = (object: Run) =>
  new MediaError(`${object}_finished`, `The ${object} is finished and cannot be cancelled.`);
export const finished = (object: Run) => new MediaError(`${object}_finished`, `The ${object} is finished.`);
export const running = (object: Run) =>
  new MediaError(`${object}_running`, `The ${object} still runs; cancel it first.`);
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
  new MediaError("worker_lost", `The ${encoder} encoder broke down.`);
export const encoderSilent = ({ encoder, seconds }: { encoder: string; seconds: number }) =>
  new MediaError("stalled", `The ${encoder} encoder was silent for ${seconds} seconds.`);
export const pictureMissing = () => new MediaError("encode_failed", "The decoder returned no picture.");
export const notHere = () => new RangeError("The work is done in a worker.");
