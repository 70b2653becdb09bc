/** Where something lies, as it may be shown: without the query and path of a URL, which may open it for whoever reads them. */
export interface Place {
  host: string;
  /** The last part of the path; empty where there is none. */
  name: string;
}

/** Gives host and file name of a URL, the bucket for `s3://`; a text that is no URL has a name alone. */
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
