import { z } from "zod";
import { ErrorReason } from "../../core/error-reason.ts";
import { ERROR_KINDS, MediaError } from "../../core/errors.ts";

// A newer service may have kinds and reasons that this version does not know.
const ErrorAnswer = z.object({
  kind: z.string(),
  message: z.string(),
  param: z.string().optional(),
  reason: ErrorReason.optional().catch(undefined),
});

/**
 * Parses the service's error from the body of a response; null for any other body. An unknown kind becomes `internal_error`
 * from status 500 on, otherwise `request_invalid`.
 */
export function readError(body: string, status: number): MediaError | null {
  const parsed = ErrorAnswer.safeParse(readJson(body));
  if (!parsed.success) return null;
  const { message, param, reason } = parsed.data;
  const known = ERROR_KINDS.find((kind) => kind === parsed.data.kind);
  const kind = known ?? (status >= 500 ? "internal_error" : "request_invalid");
  return new MediaError(kind, message, { param, reason });
}

/** Parses JSON; returns undefined for anything else. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
