/** Quotes a caller's text for a message, cut to a length that is safe to log. */
export function quote(text: string): string {
  return JSON.stringify(clip(text));
}

/** Shortens a caller's text for a message. */
export function clip(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}

/** Parses JSON; returns undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Decodes a percent-encoded text; returns a malformed one unchanged. */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns whether a host name or address, as normalized by `URL`, is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);
}
