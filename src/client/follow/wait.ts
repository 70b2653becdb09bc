import type { Step } from "../../core/step.ts";
import type { Task } from "../../core/task.ts";
import { isFinished } from "../../core/transitions.ts";
import type { Watch } from "./watch.ts";

/**
 * Resolves to the finished run, at once when it is already finished; rejects with the error that ended the watch, or with
 * the signal's reason.
 */
export function waitFor<T extends Task | Step>(
  watch: Watch<T>,
  run: T | string,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    if (typeof run !== "string" && isFinished(run)) return resolve(run);
    const stop = watch.add(typeof run === "string" ? run : run.id, {
      update({ record }) {
        if (!isFinished(record)) return;
        signal?.removeEventListener("abort", aborted);
        resolve(record);
      },
      fail(error) {
        signal?.removeEventListener("abort", aborted);
        reject(error);
      },
    });
    const aborted = () => {
      stop();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", aborted, { once: true });
  });
}
