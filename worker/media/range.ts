import type { ByteRange } from "../../src/runs/ports.ts";

/** Reads a Range header for an object of `size` bytes: one range, `unsatisfiable`, or null to send the whole (https://www.rfc-editor.org/rfc/rfc9110#section-14). */
export function parseRange(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  // Of several ranges at once, or another unit, a server may send the whole.
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "");
  if (!match) return null;
  const [, first = "", last = ""] = match;
  if (first === "") {
    if (last === "") return null;
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return null;
  return start >= size ? "unsatisfiable" : { start, end };
}

/** True when the client's copy, as If-None-Match names it, is still good, so that 304 says it all. */
export function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}

/** True when a range may be sent: without If-Range, or when it names exactly this version. */
export function isSameVersion(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange === etag;
}
