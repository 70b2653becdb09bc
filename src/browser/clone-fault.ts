import { MediaError } from "../core/errors.ts";

/**
 * Returns the error for a request that cannot be sent to a worker, with the path of the offending value. For other failures,
 * such as a lack of memory, it quotes the browser's message.
 */
export function cloneFault(args: readonly unknown[], cause: unknown): MediaError {
  for (const arg of args) {
    const found = findFault(arg, "", new Set());
    if (!found) continue;
    const { path, value } = found;
    const message = `${path || "The request"} ${faultOf(value)}; a request may contain strings, numbers, booleans, null, and arrays and plain objects of these.`;
    return new MediaError("request_invalid", message, { cause, ...(path && { param: path }) });
  }
  const why = cause instanceof Error ? cause.message : String(cause);
  return new MediaError("internal_error", `The browser could not hand the request to its worker: ${why}`, {
    cause,
  });
}

function findFault(
  value: unknown,
  path: string,
  seen: Set<unknown>,
): { path: string; value: unknown } | null {
  if (isClonable(value) || seen.has(value)) return null;
  seen.add(value);
  if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      const found = findFault(inner, path ? `${path}.${name}` : name, seen);
      if (found) return found;
    }
  }
  return { path, value };
}

function isClonable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

function faultOf(value: unknown): string {
  if (typeof value === "function" || typeof value === "symbol") return `is a ${typeof value}`;
  if (value instanceof ArrayBuffer)
    return "is a detached ArrayBuffer, whose bytes were transferred elsewhere";
  if (ArrayBuffer.isView(value))
    return "is a view of a detached ArrayBuffer, whose bytes were transferred elsewhere";
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (tag !== "Object" && tag !== "Array") return `is a ${tag}, which cannot be sent to a worker`;
  return "is not a plain object, but for example a Proxy of a framework's state; pass a plain copy";
}
