import { z } from "zod";
import { ERROR_KINDS, MediaError } from "../../core/errors.ts";

// A newer service may have kinds that this version does not know.
const ErrorAnswer = z.object({ kind: z.string(), message: z.string(), param: z.string().optional() });

/** Parses the service's error from the body of an answer; null for any other body. An unknown kind becomes `internal_error` from status 500 on, else `request_invalid`. */
export function readError(body: string, status: number): MediaError | null {
  const parsed = ErrorAnswer.safeParse(readJson(body));
  if (!parsed.success) return null;
  const { message, param } = parsed.data;
  const known = ERROR_KINDS.find((kind) => kind === parsed.data.kind);
  const kind = known ?? (status >= 500 ? "internal_error" : "request_invalid");
  return new MediaError(kind, message, { param });
}

/** Parses JSON; returns undefined for anything else. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
