/** Quotes a caller's text for a message, cut to a length that is safe to log. */
export function quote(text: string): string {
  return JSON.stringify(clip(text));
}

/** Shortens a caller's text for a message. */
export function clip(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}
