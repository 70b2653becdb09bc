import { toMediaError } from "../core/errors.ts";
import type { EncodeKind } from "../core/formats.ts";
import type { ProbeOptions } from "../core/option-types.ts";
import type { Source } from "../core/source.ts";
import { isFinished } from "../core/transitions.ts";
import type { Client, NewStep, NewTask, RunOptions, RunResult, Task } from "./client.ts";
import { outputSource } from "./output-source.ts";

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
