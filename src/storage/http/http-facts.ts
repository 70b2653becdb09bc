/** What a response says about the whole file. */
export interface HttpFacts {
  /** The final URL after redirects; may be secret. */
  url: string;
  /** Size of the whole file in bytes; null when unknown. */
  size: number | null;
  /** As sent, including quotes; null when there is none. */
  etag: string | null;
  /** Content-Type in lower case without parameters; null when there is none. */
  mime: string | null;
  /** Whether range requests work. */
  ranges: boolean;
  /** Changes with the file: its ETag, or else its modification time; null when neither is known. */
  version: string | null;
  /** True when only this version may be read: `etag` is strong, and every request demands it. */
  pinned?: boolean;
}

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

/** Returns the declared bytes of a body; null when absent, or when they count the compressed form. */
export function contentLength(response: Response): number | null {
  const coding = response.headers.get("content-encoding") ?? "identity";
  const text = response.headers.get("content-length");
  return coding === "identity" && text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Parses a Content-Range in bytes; `end` is exclusive, and `total` is null when the header leaves it open. */
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
