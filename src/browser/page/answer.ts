import { MediaError } from "../../core/errors.ts";
import type { PageAnswer } from "../media-api.ts";

/** Answers the media worker with what `work` resolves to, or with its error: `toError` converts any that is not a MediaError. */
export async function answerOf<T>(
  work: () => Promise<T>,
  toError: (thrown: unknown) => MediaError,
): Promise<PageAnswer<T>> {
  try {
    return { made: await work(), error: null };
  } catch (thrown) {
    const { kind, message, retryable } = thrown instanceof MediaError ? thrown : toError(thrown);
    return { made: null, error: { kind, message, retryable } };
  }
}
