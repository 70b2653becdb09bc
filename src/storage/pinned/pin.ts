import type { HttpFacts } from "../http/http-facts.ts";

/** A source that is read where it lies, at one version. */
export interface Pin {
  /** As the caller named it; every read follows its redirects, and is signed, by itself. */
  url: string;
  /** Bytes of the whole file. */
  size: number;
  /** Its strong ETag, as sent. */
  etag: string;
  mime: string | null;
}

// RFC 9110, section 8.8.3; longer ones fit into no job of a native encoder.
const STRONG_ETAG = /^"[\x21\x23-\x7e\x80-\xff]{1,128}"$/;

/** Returns the pin of an opened source; null for one without ranges or a strong validator, which has to be copied. */
export function pinOf(url: string, { ranges, size, etag, mime }: HttpFacts): Pin | null {
  if (!ranges || !size || etag === null || !STRONG_ETAG.test(etag)) return null;
  return { url, size, etag, mime };
}

/** Returns what is known of a pinned source before a request: every request then demands this version. */
export function pinnedFacts({ size, etag, mime }: Pin, url: string): HttpFacts {
  return { url, size, etag, mime, ranges: true, version: etag, pinned: true };
}
