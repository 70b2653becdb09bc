import { beforeEach, expect, test, vi } from "vitest";
import type { ChunkJob, Encoder } from "../../src/encoders/encoder.ts";
import * as planning from "../../src/media/create-plan.ts";
import { MediaError } from "../../src/media/errors.ts";
import type { VideoOptions } from "../../src/media/options.ts";
import { PLAN_VERSION } from "../../src/media/plan.ts";
import { createIds } from "../../src/runs/ids.ts";
import { RunOver, runTask } from "../../src/runs/pipeline.ts";
import type { Durably, Report } from "../../src/runs/ports.ts";
import { openStored } from "../../src/runs/steps/inputs.ts";
import type { StepTools } from "../../src/runs/steps/step-tools.ts";
import { createStepWork } from "../../src/runs/steps/step-work.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import { applyToTask } from "../../src/runs/transitions.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { videoSource } from "../plan/source.ts";

// Fast tests share modules; a module that another file loaded could not be mocked.
vi.hoisted(() => vi.resetModules());
vi.mock("../../src/media/create-plan.ts", { spy: true });
beforeEach(() => void vi.mocked(planning.createPlan).mockClear());

const planned = () => vi.mocked(planning.createPlan).mock.calls.length;
type Remembered = Map<string, unknown>;

/** Remembers results by name, as a page does; stops the run before the work of `stopAt`. */
function remember(remembered: Remembered, stopAt?: string): Durably {
  return async (name, work) => {
    if (stopAt !== undefined && name.startsWith(stopAt)) throw new RunOver();
    if (!remembered.has(name)) remembered.set(name, asStored(await work(AbortSignal.timeout(5000))));
    return remembered.get(name) as never;
  };
}

/** Numbers works of the same name, as a Workflow does. */
function numbered(durably: Durably): Durably {
  const counts = new Map<string, number>();
  return (name, work) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return durably(`${name}-${count}`, work);
  };
}

const asStored = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** A host that runs a video task up to its first chunk. */
async function createHost(options: VideoOptions) {
  const storage = createMemoryStorage();
  await storage.write("in", new Uint8Array(1000), "video/mp4");
  const open = (key: string) => storageReader(storage, key);
  const record = createTask(
    { input: "http://x.example/in", kind: "video", options, metadata: {} },
    createIds(() => 0.5),
    0,
  );

  /** Starts or resumes the task where the offers name this encoder; returns the first job that an encoder received. */
  return async (durably: Durably, offered = "native"): Promise<(ChunkJob & { encoder: string }) | null> => {
    let first: (ChunkJob & { encoder: string }) | null = null;
    const encoderOf = (name: string): Encoder => ({
      name,
      refuse: () => null,
      encode: async (job) => {
        first ??= { ...job, encoder: name };
        throw new MediaError("encode_failed", "Enough.");
      },
    });
    const tools: StepTools = {
      storage,
      encoders: [encoderOf("native"), encoderOf("light")],
      max_seconds: 3600,
      open,
      stem: "output",
      remote: null,
      inFlight: () => 1,
      offers: async () => [
        { encoder: offered, chunk_seconds: null, refusal: null, chunks: 1, at_once: 1, seconds: null },
      ],
      inputs: { open: (url) => openStored(storage, "in", url, open) },
      probe: async () => videoSource({ filesize: 1000 }),
      url: async (key) => `http://stored/${key}`,
      key: async () => null,
    };
    let task: Task = record;
    const report: Report = async (event) => {
      task = applyToTask(task, event, 0);
      return true;
    };
    await runTask(record, createStepWork(tools, { kind: "video", options }), report, durably);
    return first;
  };
}

test.each([
  { name: "a page", host: (durably: Durably) => durably },
  { name: "a Workflow", host: numbered },
])("a run of $name plans once, and cut and encode take that plan", async ({ host }) => {
  for (const options of [{ width: 320 }, { width: 320, target_size: 500_000 }]) {
    vi.mocked(planning.createPlan).mockClear();
    const run = await createHost(options);
    const job = await run(host(remember(new Map())));
    expect(planned()).toBe(1);
    const [plan] = vi.mocked(planning.createPlan).mock.results.map(({ value }) => value);
    expect(asStored(job?.plan)).toEqual(asStored(plan));
  }
});

test("a run interrupted between decide and cut resumes with the same plan and encoder", async () => {
  const remembered: Remembered = new Map();
  const run = await createHost({ width: 320 });
  expect(await run(remember(remembered, "cut"))).toBeNull();
  expect(planned()).toBe(1);
  const decided = [...remembered].filter(([name]) => name.startsWith("decide"));
  expect(decided).toHaveLength(1);
  // The offers have changed in the meantime.
  const job = await run(remember(remembered), "light");
  expect(planned()).toBe(1);
  expect(job?.encoder).toBe("native");
  expect(decided).toEqual([[expect.any(String), expect.objectContaining({ plan: asStored(job?.plan) })]]);
});

test("a run stored by another plan version decides again and uses none of its chunks", async () => {
  const remembered: Remembered = new Map();
  const run = await createHost({ width: 320 });
  await run(remember(remembered, "encode"));
  const former = new RegExp(`^(decide|cut) ${PLAN_VERSION}\\b`);
  const older: Remembered = new Map(
    [...remembered].map(([name, value]) => [name.replace(former, `$1 ${PLAN_VERSION - 1}`), value]),
  );
  expect([...older.keys()].filter((name) => name.includes(` ${PLAN_VERSION - 1}`))).toHaveLength(2);
  const job = await run(remember(older), "light");
  expect(planned()).toBe(2);
  expect([job?.encoder, job?.id]).toEqual(["light", expect.stringMatching(`-${PLAN_VERSION}-0$`)]);
});
