import { MediaError } from "../media/errors.ts";

interface Cause {
  cause: unknown;
}

const TAKEOVERS = {
  deleted: "The store of this page was deleted",
  upgraded: "A newer version of this page was opened",
} as const;

/** The errors of the page's database, each built from its facts. */
export const errors = {
  denied: (cause: Cause) =>
    unavailable("The browser denies this page a database, as in some private windows.", cause),
  newer: (cause: Cause) =>
    unavailable("What is stored here was written by a newer version of this page; reload the page.", cause),
  notUpgraded: (cause: Cause) =>
    new MediaError(
      "internal_error",
      "What is stored here could not be brought up to date; reload the page.",
      cause,
    ),
  blocked: () =>
    new MediaError(
      "service_unavailable",
      "The store of this page cannot be opened: another tab has an older version of the page; close it and try again.",
    ),

  closed: () => unavailable("The store of this page is closed."),
  takenOver: ({ by }: { by: keyof typeof TAKEOVERS }) =>
    unavailable(`${TAKEOVERS[by]} in another tab; reload this one.`),
  terminated: () => unavailable("The browser closed the store of this page; reload the page."),

  full: (cause: Cause) =>
    new MediaError(
      "storage_full",
      "The browser has no room left for this page; delete finished tasks, or free space on the disk.",
      cause,
    ),
  fileUnstorable: ({ cause }: { cause: Error }) =>
    new MediaError(
      "input_unreachable",
      `The browser could not store the file, which may have been changed, moved or deleted after it was chosen: ${cause.message}`,
      { cause, retryable: false },
    ),
  copyFailed: ({ cause }: { cause: Error }) =>
    new MediaError(
      "service_unavailable",
      `The browser could not copy what is to be stored; try again: ${cause.message}`,
      { cause },
    ),
  databaseFailed: ({ cause }: { cause: Error }) =>
    new MediaError(
      "service_unavailable",
      `The browser could not use the database of this page; try again: ${cause.message}`,
      { cause },
    ),
};

function unavailable(message: string, cause?: Cause): MediaError {
  return new MediaError("service_unavailable", message, { ...cause, retryable: false });
}
