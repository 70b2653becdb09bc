import { MediaError, toMediaError } from "../media/errors.ts";
import type { EncodeKind } from "../media/formats.ts";
import type { ProbeOptions } from "../media/option-types.ts";
import type { Source } from "../media/source.ts";
import type { PreviewView } from "../runs/samples.ts";
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
  ReadOptions,
  RunOptions,
  RunResult,
  Task,
} from "./client.ts";
import * as errors from "./errors.ts";
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
    const runOutput = await output(record);
    const blob = await runOutput.blob();
    signal?.throwIfAborted();
    return { blob, source: runOutput.source, task: record as RunResult<K>["task"], output: runOutput };
  } catch (thrown) {
    if (!isFinished(record)) await tasks.cancel(task.id).catch(() => {});
    throw thrown;
  }
}

/** Implements {@link Client.probe} with a standalone step, which it deletes afterwards. */
export async function probeInput(
  { steps }: Pick<Client, "steps">,
  input: NewStep["input"],
  { signal, ...options }: ProbeOptions & { signal?: AbortSignal } = {},
): Promise<Source> {
  const step = await steps.create({ kind: "probe", input, options }, signal && { signal });
  try {
    const finished = await steps.wait(step, signal && { signal });
    return finished.status === "succeeded" ? finished.output : outputSource(finished);
  } finally {
    await discard(steps, step.id);
  }
}

/** Implements {@link Client.entries} with a probe. */
export async function probeEntries(
  { probe }: Pick<Client, "probe">,
  input: NewStep["input"],
  options: ReadOptions = {},
): Promise<number[]> {
  const { entries = [] } = await probe(input, { ...options, entries: true });
  return entries;
}

/** Deletes a task or step, after cancelling it if it still runs; never rejects. */
export async function discard(
  records: { delete(id: string): Promise<void>; cancel(id: string): Promise<unknown> },
  id: string,
): Promise<void> {
  try {
    await records.delete(id);
  } catch (thrown) {
    if (!RUNNING.has(toMediaError(thrown).kind)) return;
    await records.cancel(id).catch(() => {});
    await records.delete(id).catch(() => {});
  }
}

const RUNNING: ReadonlySet<string> = new Set(["task_running", "step_running"]);

const LIMIT = 100;

/** Yields the records of a list, fetching a page at a time; records created or deleted meanwhile cause neither repeats nor gaps. */
export async function* eachRecord<T extends { id: string }>(
  list: (options: ListOptions) => Promise<Page<T>>,
  options: EachOptions = {},
): AsyncGenerator<T, void> {
  const { limit = LIMIT } = options;
  for (let { after } = options; ; ) {
    const { records, more } = await list({ ...options, limit, ...(after !== undefined && { after }) });
    yield* records;
    after = records.at(-1)?.id;
    if (!more || after === undefined) return;
  }
}

/**
 * Returns the output of a task or step. Throws the run's own error if it failed, and `media_not_found` when it has no file, as a
 * probe has none.
 */
export function outputSource(record: TaskRecord | Step): Source {
  if (record.error) {
    const { kind, message } = record.error;
    throw new MediaError(kind, message, record.error);
  }
  const last = record.object === "task" ? record.steps.at(-1) : record;
  if (record.status !== "succeeded" || !last?.output) {
    throw errors.outputMissing(record);
  }
  if (last.kind === "probe") throw errors.probeOutputMissing();
  return last.output;
}

export interface WatchMethods extends Pick<Client, "on" | "watch"> {
  wait(run: RunRef, options?: { signal?: AbortSignal }): Promise<never>;
}

/**
 * Creates the methods that follow a run: `on` and `wait` on a watch, `watch` on `updates`. A reference to a task yields tasks, one to
 * a step yields steps.
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
 * Resolves to the finished run, at once if it is finished already; rejects with the error that ended the watch, or with the
 * signal's reason.
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
        signal?.removeEventListener("abort", onAbort);
        resolve(record);
      },
      fail(error) {
        signal?.removeEventListener("abort", onAbort);
        reject(error);
      },
    });
    const onAbort = () => {
      stop();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
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
  let failure: MediaError | null = null;
  let changed = Promise.withResolvers<void>();
  const wake = () => changed.resolve();
  const take = () => {
    const update = newest;
    newest = null;
    return update;
  };
  const stop = watch.add(id, {
    update(update) {
      newest = update;
      wake();
    },
    fail(error) {
      failure = error;
      wake();
    },
  });
  signal?.addEventListener("abort", wake, { once: true });
  try {
    for (;;) {
      await changed.promise;
      changed = Promise.withResolvers<void>();
      for (let update = take(); update; update = take()) {
        signal?.throwIfAborted();
        yield update;
        if (isFinished(update.record)) return;
      }
      signal?.throwIfAborted();
      if (failure) throw failure;
    }
  } finally {
    signal?.removeEventListener("abort", wake);
    stop();
  }
}

/** Returns whether a value is a valid time of a preview: a number of seconds, 0 or later. */
export function isMoment(at: unknown): boolean {
  return typeof at === "number" && Number.isFinite(at) && at >= 0;
}

/** Returns whether the numbers of a view are valid. */
export function isView({ x, y, width, height, scale = 1 }: PreviewView): boolean {
  const finite = [x, y, width, height, scale].every(Number.isFinite);
  return finite && x >= 0 && y >= 0 && width > 0 && height > 0 && scale > 0 && scale <= 1;
}
