import { type ErrorKind, MediaError } from "./errors.ts";

/** Parses a body that must be an object of known fields; throws `request_invalid` with the field at fault. */
export function parseObject(body: unknown, fields: readonly string[]): Record<string, unknown> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new MediaError("request_invalid", "The body must be a JSON object.");
  }
  const unknown = Object.keys(body).find((key) => !fields.includes(key));
  if (unknown !== undefined) {
    const message = `Unknown field ${quote(unknown)}; the fields are ${fields.join(", ")}.`;
    throw new MediaError("request_invalid", message, { param: clip(unknown) });
  }
  return body as Record<string, unknown>;
}

/** Quotes a caller's text for a message, cut to a length that is safe to log. */
export function quote(text: string): string {
  return JSON.stringify(clip(text));
}

/** Shortens a caller's text for a message. */
export function clip(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}

/** Builds the error of one field at fault, such as `url` with "must be a string.". */
export function invalid(param: string, rule: string, kind: ErrorKind = "request_invalid"): MediaError {
  const reason = { code: "field", field: param, rule } as const;
  return new MediaError(kind, `${param} ${rule}`, { param, reason });
}
