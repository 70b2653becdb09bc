/** What an answer tells of the whole file behind it. */
export interface HttpFacts {
  /** The address it came from, after redirects; it may be secret. */
  url: string;
  /** Bytes of the whole file; null when not known. */
  size: number | null;
  /** As sent, quotes and all; null when there is none. */
  etag: string | null;
  /** Content-Type without parameters, in lower case; null when there is none. */
  mime: string | null;
  /** Whether ranges of it can be read. */
  ranges: boolean;
  /** Differs when the file differs: its ETag, else its time of change; null when neither is known. */
  version: string | null;
}

/** Reads the facts from an answer to a request for the first bytes. */
export function readFacts(response: Response, url: string): HttpFacts {
  const { headers } = response;
  const range = parseContentRange(headers.get("content-range"));
  const partial = response.status === 206 && range?.start === 0;
  const etag = headers.get("etag");
  const facts = {
    url,
    etag,
    mime: headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() || null,
    version: etag ?? headers.get("last-modified"),
  };
  if (response.status === 416) return { ...facts, size: range?.total ?? null, ranges: false };
  if (partial) return { ...facts, size: range.total, ranges: range.total !== null };
  return { ...facts, size: contentLength(response), ranges: false };
}

/** Bytes that a body will have, as declared; null when not declared, or declared of its compressed form. */
export function contentLength(response: Response): number | null {
  const coding = response.headers.get("content-encoding") ?? "identity";
  const text = response.headers.get("content-length");
  return coding === "identity" && text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Parses a Content-Range of bytes; `end` is exclusive and `total` null when the header leaves it open. */
export function parseContentRange(
  header: string | null,
): { start: number; end: number; total: number | null } | null {
  const match = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15}|\*)$/.exec(header?.trim() ?? "");
  if (!match) return null;
  const [, first, last, total] = match;
  return {
    start: first === undefined ? 0 : Number(first),
    end: last === undefined ? 0 : Number(last) + 1,
    total: total === "*" ? null : Number(total),
  };
}
