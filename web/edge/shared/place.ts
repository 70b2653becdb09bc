/** Where something is stored, as far as it may be shown: without the path and query of a URL, which may grant access. */
export interface Place {
  host: string;
  /** The last segment of the path; empty when there is none. */
  name: string;
}

/** Returns the host and file name of a URL, or the bucket for `s3://`; a text that is not a URL has only a name. */
export function placeOf(url: string): Place {
  const parsed = URL.parse(url);
  if (!parsed) return { host: "", name: url.slice(0, 100) };
  const last = parsed.pathname.split("/").findLast((part) => part !== "") ?? "";
  return { host: parsed.protocol === "s3:" ? `s3://${parsed.host}` : parsed.host, name: decoded(last) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
