import { MediaError } from "../media/errors.ts";

interface Cause {
  cause: unknown;
}

const TAKEOVERS = {
  deleted: "The store of this page was deleted",
  upgraded: "A newer version of this page was opened",
} as const;

export const denied = (cause: Cause) =>
  unavailable("The browser denies this page a database, as in some private windows.", cause);
export const newer = (cause: Cause) =>
  unavailable("The stored data was written by a newer version of this page; reload the page.", cause);
export const notUpgraded = (cause: Cause) =>
  new MediaError("internal_error", "The stored data could not be upgraded; reload the page.", cause);
export const blocked = () =>
  new MediaError(
    "service_unavailable",
    "The store of this page cannot be opened: another tab has an older version of the page; close it and try again.",
  );

export const closed = () => unavailable("The store of this page is closed.");
export const takenOver = ({ by }: { by: keyof typeof TAKEOVERS }) =>
  unavailable(`${TAKEOVERS[by]} in another tab; reload this one.`);
export const terminated = () => unavailable("The browser closed the store of this page; reload the page.");

export const full = (cause: Cause) =>
  new MediaError(
    "storage_full",
    "The browser has no room left for this page; delete finished tasks, or free space on the disk.",
    cause,
  );
export const fileUnstorable = ({ cause }: { cause: Error }) =>
  new MediaError(
    "input_unreachable",
    `The browser could not store the file, which may have been changed, moved or deleted after it was chosen: ${cause.message}`,
    { cause, retryable: false },
  );
export const copyFailed = ({ cause }: { cause: Error }) =>
  new MediaError(
    "service_unavailable",
    `The browser could not copy the data to store; try again: ${cause.message}`,
    { cause },
  );
export const databaseFailed = ({ cause }: { cause: Error }) =>
  new MediaError(
    "service_unavailable",
    `The browser could not use the database of this page; try again: ${cause.message}`,
    { cause },
  );

function unavailable(message: string, cause?: Cause): MediaError {
  return new MediaError("service_unavailable", message, { ...cause, retryable: false });
}
