import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Toolset } from "../../src/media/ffmpeg/toolset.ts";
import type { Source } from "../../src/media/source.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import { createIds } from "../../src/runs/ids.ts";
import { runTask } from "../../src/runs/pipeline.ts";
import { openStored } from "../../src/runs/steps/inputs.ts";
import { createStepWork } from "../../src/runs/steps/step-work.ts";
import { createTask } from "../../src/runs/task.ts";
import { applyToTask } from "../../src/runs/transitions.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { readAll } from "../../src/storage/storage.ts";
import type { TaskBody } from "../judge/front-door.ts";
import { nativeFfprobe } from "../probe/probe-file.ts";
import { createNativeEncoder } from "./native-encoder.ts";

const STORED = "http://stored/";
const files: string[] = [];

/**
 * Runs a task on a local file in this process. Native ffmpeg is its only encoder, by default with the toolset of the wasm core. Returns
 * the path of the output and its facts; throws the task's error.
 */
export async function runHere(
  path: string,
  { kind, options = {} }: Omit<TaskBody, "input">,
  toolset?: Toolset,
): Promise<{ path: string; output: Source; jobs: number }> {
  const storage = createMemoryStorage();
  const encoder = createNativeEncoder("native", toolset);
  await storage.write("source", await readFile(path), "application/octet-stream");
  const open = (key: string) => storageReader(storage, key);
  const keyOf = (url: string) => url.slice(STORED.length);
  let task = createTask(
    { input: `${STORED}source`, kind, options, metadata: {} },
    createIds(Math.random),
    Date.now(),
  );
  const work = createStepWork(
    {
      storage,
      encoders: [encoder],
      max_seconds: 3600,
      open,
      stem: "output",
      offers: async (plan, source) => [
        {
          encoder: encoder.name,
          chunk_seconds: null,
          refusal: encoder.refuse(plan, source),
          chunks: 1,
          at_once: 1,
          seconds: null,
        },
      ],
      inputs: { open: (url) => openStored(storage, keyOf(url), url, open) },
      inFlight: () => 1,
      remote: null,
      probe: (reader, hints, signal) => probeMedia(reader, hints, nativeFfprobe(path), signal),
      url: async (key) => STORED + key,
      key: async (url) => (url.startsWith(STORED) ? keyOf(url) : null),
    },
    { kind, options } as Parameters<typeof createStepWork>[1],
  );
  const report = async (event: Parameters<typeof applyToTask>[1]) => {
    task = applyToTask(task, event, Date.now());
    return true;
  };
  await runTask(task, work, report, (_, piece) => piece(AbortSignal.timeout(120_000)));
  const output = task.steps.find((step) => step.kind === kind)?.output;
  const stored = output && (await storage.read(keyOf(output.url)));
  if (!output || !stored) throw new Error(JSON.stringify(task.error));
  const name = `framewright-here-${process.pid}-${files.length}.${output.url.split(".").at(-1)}`;
  const file = join(tmpdir(), name);
  files.push(file);
  await writeFile(file, await readAll(stored.body));
  return { path: file, output, jobs: encoder.jobs.length };
}

/** Removes the outputs of {@link runHere}. */
export async function forgetOutputs(): Promise<void> {
  await Promise.all(files.splice(0).map((file) => rm(file, { force: true })));
}
