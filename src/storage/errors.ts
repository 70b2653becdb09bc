import { MediaError } from "../media/errors.ts";

interface Cause {
  cause: unknown;
}

export const objectNotFound = ({ key }: { key: string }) =>
  new MediaError("media_not_found", `Nothing is stored as ${key}.`);
export const objectChanged = ({ key, cause }: { key: string; cause?: unknown }) =>
  new MediaError("internal_error", `The object stored as ${key} changed while it was being read.`, {
    cause,
  });
export const encodedFileGone = (step: "encode" | "upload") =>
  new MediaError(`${step}_failed`, "The encoded file is no longer in storage.");
export const uploadIncomplete = ({ sent, stored }: { sent: number; stored: number }) =>
  new MediaError("upload_failed", `${stored} of the ${sent} bytes sent are stored.`);
export const prefixEmpty = () => new Error("Storage is not cleared without a prefix.");
export const tooManyBytes = ({ maxBytes }: { maxBytes: number }) =>
  new RangeError(`There are more than ${maxBytes} bytes.`);

export const fileUnreadable = ({ name, cause }: { name: string | null; cause?: unknown }) =>
  new MediaError(
    "input_unreachable",
    `The file${name === null ? "" : ` ${name}`} can no longer be read: it was changed, moved or deleted after it was chosen. Choose it again.`,
    { cause, retryable: false },
  );
export const inputTooShort = () =>
  new MediaError("input_unreachable", "The input is shorter than its stated size.");

export const opfsDenied = (cause: Cause) =>
  new MediaError(
    "service_unavailable",
    "The browser denies this page a file system of its own, as in some private windows.",
    { ...cause, retryable: false },
  );
export const opfsAccessDenied = () =>
  new MediaError("service_unavailable", "The browser denies access to its files.");
export const opfsFolderMissing = ({ key }: { key: string }) =>
  new MediaError("internal_error", `There is no folder for ${key}.`);
export const opfsFull = (cause?: Cause) =>
  new MediaError(
    "storage_full",
    "The browser has no room left for this page; delete finished tasks, or free space on the disk.",
    cause,
  );
export const opfsTooSmall = ({ bytes, freeBytes }: { bytes: number; freeBytes: number }) =>
  new MediaError(
    "storage_full",
    `This needs ${inUnits(bytes)} of room, and the browser has ${inUnits(freeBytes)} left for this page; delete finished tasks, or free space on the disk.`,
  );

function inUnits(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
