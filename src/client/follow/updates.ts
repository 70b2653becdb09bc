import type { MediaError } from "../../core/errors.ts";
import type { Step } from "../../core/step.ts";
import type { Task as TaskRecord } from "../../core/task.ts";
import { isFinished } from "../../core/transitions.ts";
import type { Update } from "../update.ts";
import type { Watch } from "./watch.ts";

/**
 * Yields the updates of a watched run until it is finished; a slow consumer skips to the newest. Rejects with the error that
 * ended the watch, or with the signal's reason.
 */
export async function* updatesOf<T extends TaskRecord | Step>(
  watch: Watch<T>,
  id: string,
  signal?: AbortSignal,
): AsyncGenerator<Update<T>, void> {
  signal?.throwIfAborted();
  let newest: Update<T> | null = null;
  let failed: MediaError | null = null;
  let news = Promise.withResolvers<void>();
  const wake = () => news.resolve();
  const take = () => {
    const taken = newest;
    newest = null;
    return taken;
  };
  const stop = watch.add(id, {
    update(update) {
      newest = update;
      wake();
    },
    fail(error) {
      failed = error;
      wake();
    },
  });
  signal?.addEventListener("abort", wake, { once: true });
  try {
    for (;;) {
      await news.promise;
      news = Promise.withResolvers<void>();
      for (let update = take(); update; update = take()) {
        signal?.throwIfAborted();
        yield update;
        if (isFinished(update.record)) return;
      }
      signal?.throwIfAborted();
      if (failed) throw failed;
    }
  } finally {
    signal?.removeEventListener("abort", wake);
    stop();
  }
}
