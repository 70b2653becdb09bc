import type { ErrorReason } from "./error-reason.ts";
import { type ErrorKind, MediaError, type MediaErrorOptions } from "./errors.ts";

type Described = Extract<ErrorReason, { code: "after" | "bytes_too_few" | "no_answer" }>;

const HOSTS = {
  source: "The source",
  output: "The output's store",
  storage: "The storage",
} as const;
const ENDS = { failed: "failed", cancelled: "was cancelled", deleted: "was deleted" } as const;

/** Creates the error for a reason, with a sentence as its message. */
export function errorFor(kind: ErrorKind, reason: Described, options: MediaErrorOptions = {}): MediaError {
  return new MediaError(kind, describeReason(reason), { ...options, reason });
}

function describeReason(reason: Described): string {
  switch (reason.code) {
    case "after":
      return `The input is the output of ${reason.task}, which ${ENDS[reason.ended]}.`;
    case "bytes_too_few":
      return `options.max_bytes (${reason.max_bytes}) is too small for this picture; its least quality and size take ${reason.least_bytes}.`;
    case "no_answer":
      return `${HOSTS[reason.from]} at ${reason.host} could not be reached.`;
  }
}
