import type { Step } from "../../core/step.ts";
import type { Task as TaskRecord } from "../../core/task.ts";
import { isFinished } from "../../core/transitions.ts";
import type { Client } from "../client.ts";
import type { AnyRun, RunRef } from "../records.ts";
import type { Update } from "../update.ts";
import type { Watch } from "./watch.ts";

export interface WatchMethods extends Pick<Client, "on" | "watch"> {
  wait(run: RunRef, options?: { signal?: AbortSignal }): Promise<never>;
}

/**
 * Creates the methods on top of a watch, and of `updates` for those that are read one by one. Their types follow the
 * reference: a task leads to a task, a step to a step.
 */
export function createWatchMethods(
  watch: Watch<AnyRun>,
  updates: (id: string, signal?: AbortSignal) => AsyncGenerator<Update<AnyRun>, void>,
): WatchMethods {
  return {
    on(run: RunRef, event: "update" | "error", listener: (value: never) => void) {
      const ignore = () => {};
      const call = listener as (value: unknown) => void;
      return watch.add(
        idOf(run),
        event === "update" ? { update: call, fail: ignore } : { update: ignore, fail: call },
      );
    },
    watch: (run, { signal } = {}) => updates(idOf(run), signal) as AsyncGenerator<never, void>,
    wait: (run, { signal } = {}) => waitFor(watch, run, signal) as Promise<never>,
  };
}

export function idOf(run: RunRef): string {
  return typeof run === "string" ? run : run.id;
}

/**
 * Resolves to the finished run, at once when it is already finished; rejects with the error that ended the watch, or with
 * the signal's reason.
 */
function waitFor<T extends TaskRecord | Step>(
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
