import {
  createLocalClient,
  type LocalClient,
  type LocalClientOptions,
} from "../../../src/browser/local-client.ts";
import type { NewStep, NewTask } from "../../../src/client/client.ts";
import type { EncodeKind } from "../../../src/media/formats.ts";
import type { Source } from "../../../src/media/source.ts";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import { chosenFile, chosenFiles, nextClick } from "./chosen.ts";

/** The result of a run on the page's own machine. */
interface OwnRun {
  seconds: number;
  /** Size in bytes. */
  size: number;
  output: Source;
}

type Request = Omit<NewTask, "input">;

let client: LocalClient | null = null;
let last: Blob | null = null;

/** Our side of the benchmarks. */
export const ours = {
  open,
  close,
  run,
  runAll,
  probe,
  probeRecord,
  taskRecord,
  estimate,
  preview,
  firstProgress,
  save,
};

/** Opens a client in place of the previous one. */
async function open(options: LocalClientOptions): Promise<void> {
  await close();
  client = createLocalClient(options);
}

async function close(): Promise<void> {
  await client?.close();
  client = null;
}

function opened(): LocalClient {
  if (!client) throw new Error("No client is open.");
  return client;
}

/** Runs a task on the selected file, from its creation to its output, a copy of which can be kept for `save`. */
async function run(request: Request, keep = true): Promise<OwnRun> {
  const started = performance.now();
  const task = await opened().tasks.create({ ...request, input: chosenFile() } as NewTask<EncodeKind>);
  const { blob, source } = await finish(task);
  const seconds = (performance.now() - started) / 1000;
  if (keep) last = await copyOf(blob);
  await opened().tasks.delete(task.id);
  return { seconds, size: blob.size, output: source };
}

/** Runs a task on each selected file, all created at once. */
async function runAll(request: Request): Promise<Omit<OwnRun, "output">> {
  const started = performance.now();
  const tasks = await Promise.all(
    chosenFiles().map((input) => opened().tasks.create({ ...request, input } as NewTask<EncodeKind>)),
  );
  const outputs = await Promise.all(tasks.map(finish));
  const seconds = (performance.now() - started) / 1000;
  last = await copyOf(outputs[0]?.blob ?? new Blob());
  await Promise.all(tasks.map(({ id }) => opened().tasks.delete(id)));
  return { seconds, size: outputs.reduce((sum, { blob }) => sum + blob.size, 0) };
}

/** The last estimate of an output, and the time that it took. */
interface TimedEstimate {
  low: number;
  high: number;
  /** Seconds that the encode is estimated to take. */
  encode_seconds: number | null;
  /** Seconds that the estimate took. */
  seconds: number;
}

/** Estimates an output of each selected file until the estimate ends. */
async function estimate(request: Request): Promise<TimedEstimate[]> {
  const estimates: TimedEstimate[] = [];
  for (const input of chosenFiles()) {
    const started = performance.now();
    const all = await Array.fromAsync(opened().estimate({ ...request, input } as NewTask<EncodeKind>));
    const final = all.at(-1);
    const { low = 0, high = 0 } = final?.bytes ?? {};
    const seconds = (performance.now() - started) / 1000;
    estimates.push({ low, high, encode_seconds: final?.seconds ?? null, seconds });
  }
  return estimates;
}

/** Makes the preview of the selected file and decodes both of its pictures; returns the time in milliseconds. */
async function preview(request: Request & { at?: number }): Promise<{ ms: number; bytes: number }> {
  const started = performance.now();
  const { original, output, bytes } = await opened().preview({
    ...request,
    input: chosenFile(),
  } as NewTask<EncodeKind>);
  await Promise.all([original, output].map((picture) => createImageBitmap(picture)));
  return { ms: performance.now() - started, bytes };
}

/** Probes the selected file, or a URL; returns the time in milliseconds. */
async function probe(url: string | null): Promise<{ ms: number; output: Source | null }> {
  const input = url === null ? chosenFile() : { url };
  const started = performance.now();
  const step = await opened().steps.create({ kind: "probe", input } as NewStep<"probe">);
  const done = await opened().steps.wait(step);
  const ms = performance.now() - started;
  if (done.status !== "succeeded") throw new Error(`The probe is ${done.status}: ${done.error?.message}`);
  return { ms, output: done.output };
}

/** Probes the selected file; returns the record of the step, failed or not. */
async function probeRecord(): Promise<Step> {
  const step = await opened().steps.create({ kind: "probe", input: chosenFile() } as NewStep<"probe">);
  return opened().steps.wait(step);
}

/** Runs a task on the selected file; returns its record, failed or not. Its output can be kept with `save`. */
async function taskRecord(request: Request): Promise<Task> {
  const task = await opened().tasks.create({ ...request, input: chosenFile() } as NewTask<EncodeKind>);
  const done = await opened().tasks.wait(task);
  if (done.status === "succeeded") last = await copyOf(await (await opened().output(done)).blob());
  await opened().tasks.delete(task.id);
  return done;
}

/**
 * Waits for a click and returns the milliseconds from there, including the client's start, to the first percent of progress;
 * then cancels the task.
 */
async function firstProgress(options: LocalClientOptions, request: Request): Promise<number> {
  const clicked = await nextClick();
  await open(options);
  const own = opened();
  const task = await own.tasks.create({ ...request, input: chosenFile() } as NewTask<EncodeKind>);
  const ms = await new Promise<number>((resolve, reject) => {
    const stop = own.on(task, "update", ({ record }) => {
      const step = record.steps.find(({ kind }) => kind === request.kind);
      if (record.error) reject(new Error(record.error.message));
      if ((step?.progress ?? 0) < 1) return;
      stop();
      resolve(performance.now() - clicked);
    });
  });
  await own.tasks.cancel(task.id).catch(() => {});
  return ms;
}

async function save(name: string): Promise<void> {
  if (last) await globalThis.bench.save(last, name);
}

// Stored files are deleted with their task.
async function copyOf(blob: Blob): Promise<Blob> {
  return new Blob([await blob.arrayBuffer()]);
}

async function finish(task: Task): Promise<{ blob: Blob; source: Source }> {
  const done = await opened().tasks.wait(task);
  if (done.status !== "succeeded") throw new Error(`The task is ${done.status}: ${done.error?.message}`);
  const output = await opened().output(done);
  return { blob: await output.blob(), source: output.source };
}
