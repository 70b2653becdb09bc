import { MediaError, toMediaError } from "../media/errors.ts";
import type { EncodeKind } from "../media/formats.ts";
import type { ProbeOptions } from "../media/option-types.ts";
import type { Source } from "../media/source.ts";
import type { Step } from "../runs/step.ts";
import type { Task as TaskRecord } from "../runs/task.ts";
import { isFinished } from "../runs/transitions.ts";
import type {
  Client,
  EachOptions,
  ListOptions,
  NewStep,
  NewTask,
  Page,
  RunOptions,
  RunResult,
  Task,
} from "./client.ts";
import type { AnyRun, RunRef } from "./records.ts";
import type { Update } from "./update.ts";
import type { Watch } from "./watch.ts";

/** Implements {@link Client.run} with the client's other methods. */
export async function runTask<K extends EncodeKind>(
  { tasks, watch, output }: Pick<Client, "tasks" | "watch" | "output">,
  request: NewTask<K>,
  { signal, onProgress, onUpload }: RunOptions<K> = {},
): Promise<RunResult<K>> {
  const task = await tasks.create(request, {
    ...(signal && { signal }),
    ...(onUpload && { onProgress: onUpload }),
  });
  let record: Task = task;
  try {
    for await (const update of watch<Task>(task, signal && { signal })) {
      record = update.record;
      onProgress?.(update as Parameters<NonNullable<typeof onProgress>>[0]);
    }
    const result = await output(record);
    const blob = await result.blob();
    signal?.throwIfAborted();
    return { blob, source: result.source, task: record as RunResult<K>["task"], output: result };
  } catch (thrown) {
    if (!isFinished(record)) await tasks.cancel(task.id).catch(() => {});
    throw thrown;
  }
}

/** Implements {@link Client.probe}: a standalone step, deleted once it has answered. */
export async function probeInput(
  { steps }: Pick<Client, "steps">,
  input: NewStep["input"],
  { signal, ...options }: ProbeOptions & { signal?: AbortSignal } = {},
): Promise<Source> {
  const step = await steps.create({ kind: "probe", input, options }, signal && { signal });
  try {
    const done = await steps.wait(step, signal && { signal });
    return done.status === "succeeded" ? done.output : outputSource(done);
  } finally {
    await drop(steps, step.id);
  }
}

async function drop(steps: Client["steps"], id: string): Promise<void> {
  try {
    await steps.delete(id);
  } catch (thrown) {
    if (toMediaError(thrown).kind !== "step_running") return;
    await steps.cancel(id).catch(() => {});
    await steps.delete(id).catch(() => {});
  }
}

const LIMIT = 100;

/** Yields the records of a list, fetching a page at a time; records created or deleted meanwhile neither repeat nor hide others. */
export async function* eachRecord<T extends { id: string }>(
  list: (asked: ListOptions) => Promise<Page<T>>,
  asked: EachOptions = {},
): AsyncGenerator<T, void> {
  const { limit = LIMIT } = asked;
  for (let { after } = asked; ; ) {
    const { records, more } = await list({ ...asked, limit, ...(after !== undefined && { after }) });
    yield* records;
    after = records.at(-1)?.id;
    if (!more || after === undefined) return;
  }
}

/**
 * Returns the output of a task or step. Throws the error of a run that failed, and `media_not_found` when there is no file,
 * as for a probe.
 */
export function outputSource(record: TaskRecord | Step): Source {
  if (record.error) {
    const { kind, message } = record.error;
    throw new MediaError(kind, message, record.error);
  }
  const last = record.object === "task" ? record.steps.at(-1) : record;
  if (record.status !== "succeeded" || !last?.output) {
    throw new MediaError(
      "media_not_found",
      `There is no output: the ${record.object} is ${record.status}, not succeeded.`,
    );
  }
  if (last.kind === "probe") {
    throw new MediaError("media_not_found", "There is no output: a probe only inspects its input.");
  }
  return last.output;
}

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
