import { expect, test, vi } from "vitest";
import type { Encoder } from "../../src/encoders/encoder.ts";
import * as planning from "../../src/media/create-plan.ts";
import { MediaError } from "../../src/media/errors.ts";
import { createIds } from "../../src/runs/ids.ts";
import { runTask } from "../../src/runs/pipeline.ts";
import { openStored } from "../../src/runs/steps/inputs.ts";
import { createStepWork } from "../../src/runs/steps/step-work.ts";
import { createTask } from "../../src/runs/task.ts";
import { applyToTask } from "../../src/runs/transitions.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { videoSource } from "../plan/source.ts";

// Fast tests share modules; a module that another file loaded could not be mocked.
vi.hoisted(() => vi.resetModules());
vi.mock("../../src/media/create-plan.ts", { spy: true });

test.each([{ width: 320 }, { width: 320, target_size: 500_000 }])("a run plans once: %j", async (options) => {
  vi.mocked(planning.createPlan).mockClear();
  const storage = createMemoryStorage();
  const open = (key: string) => storageReader(storage, key);
  await storage.write("in", new Uint8Array(1000), "video/mp4");
  const refuse = vi.fn(() => null);
  const encoder: Encoder = {
    name: "native",
    refuse,
    encode: async () => {
      throw new MediaError("encode_failed", "Enough.");
    },
  };
  const known = new Map<string, unknown>();
  const work = createStepWork(
    {
      ...{
        storage,
        encoders: [encoder],
        max_seconds: 3600,
        open,
        stem: "output",
        remote: null,
        inFlight: () => 1,
      },
      offers: async () => [
        { encoder: "native", chunk_seconds: null, refusal: null, chunks: 1, at_once: 1, seconds: null },
      ],
      inputs: { open: (url) => openStored(storage, "in", url, open) },
      probe: async () => videoSource({ filesize: 1000 }),
      url: async (key) => `http://stored/${key}`,
      key: async () => null,
    },
    { kind: "video", options },
  );
  let task = createTask(
    { input: "http://x.example/in", kind: "video", options, metadata: {} },
    createIds(Math.random),
    0,
  );
  await runTask(
    task,
    work,
    async (event) => {
      task = applyToTask(task, event, 0);
      return true;
    },
    async (name, piece) => {
      if (!known.has(name))
        known.set(name, JSON.parse(JSON.stringify((await piece(AbortSignal.timeout(5000))) ?? null)));
      return known.get(name) as never;
    },
  );
  console.log(
    JSON.stringify(options),
    "createPlan",
    vi.mocked(planning.createPlan).mock.calls.length,
    "pieces",
    [...known.keys()].join(", "),
    task.error?.message,
    "bytes of decision",
    JSON.stringify([...known].find(([n]) => n.startsWith("decide"))?.[1]).length,
  );
  expect(vi.mocked(planning.createPlan).mock.calls.length).toBe(1);
});
