import { MediaError } from "../media/errors.ts";

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
