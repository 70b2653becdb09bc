import { expect, onTestFinished, test, vi } from "vitest";
import { createConnections } from "../../src/browser/connections.ts";
import type { Run } from "../../src/browser/media-api.ts";
import { createLocalUrls } from "../../src/browser/media-worker/local-files.ts";
import { createMediaHost } from "../../src/browser/media-worker/media-host.ts";
import { MediaError } from "../../src/media/errors.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import type { InputRecord } from "../../src/stores/indexeddb-schema.ts";

const full = async (): Promise<never> => {
  throw new MediaError("storage_full", "There is no room.");
};

const none = async () => null;

/** A host whose store has room for files only; `put` and `get` replace its methods for records. */
function fullHost(
  name = "host",
  inputs = new Map<string, InputRecord>(),
  put: (record: Run) => Promise<void> = full,
  get: (id: string) => Promise<Run | null> = none,
) {
  const host = createMediaHost(
    {
      settings: {
        ...{ name, prefer: "quality", encoderWorkers: 1, core: null, threadedCore: null, avif: null },
        ...{ host: "localhost", allowPrivate: false, keepSeconds: 60, keepInputBytes: 1000 },
        ...{ connections: [], fallback: false },
      },
      stores: {
        ...{ put, delete: async () => {}, all: async () => [] as Run[] },
        get: async (_, id) => (await get(id)) as never,
        list: async () => ({ records: [], more: false }),
        jobs: {
          ...{ get: none, all: async () => [], put: full, delete: async () => {}, create: full },
          list: async () => ({ records: [], more: false }),
        },
        inputs: {
          get: async (id) => inputs.get(id) ?? null,
          all: async () => [...inputs.values()],
          put: async (record) => void inputs.set(record.id, record),
          delete: async (id) => void inputs.delete(id),
        },
        recordBytes: async () => 0,
        pieces: { get: none, put: async () => {}, runs: async () => [], clear: async () => {} },
      },
      storage: {
        ...createMemoryStorage(),
        ...{ file: none, files: async () => [], ensureRoom: async () => {} },
      },
      urls: createLocalUrls("host"),
      connections: createConnections([], full),
      ...{ runs_at_once: 1, encoders: [], inFlight: () => 1, probe: full, font: full },
      offers: () => missing(),
    },
    () => {},
  );
  return { host, inputs };
}

function missing(): never {
  throw new MediaError("encoder_unavailable", "There is none.");
}

test("drops the file of a run or job whose record could not be stored", async () => {
  const { host, inputs } = fullHost();
  const file = new File(["sound"], "a.wav");
  for (const object of ["task", "step"] as const) {
    const request = object === "task" ? { kind: "audio", input: null } : { kind: "probe", input: null };
    await expect(host.create(object, request, file, new Map())).rejects.toMatchObject({
      kind: "storage_full",
    });
    expect([...inputs.keys()]).toEqual([]);
  }
  const job = { input: null, outputs: [{ kind: "video", options: { overlay: { url: null } } }] };
  const extra = new Map([["outputs.0.options.overlay.url", file]]);
  await expect(host.createJob(job, file, extra)).rejects.toMatchObject({ kind: "storage_full" });
  expect([...inputs.keys()]).toEqual([]);
});

test("sweeps up the files of a job or run whose page was closed before its record was stored, and of no other", async () => {
  const storing = Promise.withResolvers<Run>();
  const stored = Promise.withResolvers<void>();
  const { host, inputs } = fullHost("swept", new Map(), (record) => {
    storing.resolve(record);
    return stored.promise;
  });
  const file = new File(["sound"], "a.wav");
  const request = { kind: "video", input: null, options: { overlay: { url: null } } };
  const creating = host.create("task", request, file, new Map([["options.overlay.url", file]]));
  const { id } = await storing.promise;
  const newId = createIds(Math.random);
  const [job, task, step] = (["job", "task", "step"] as const).map((type) => newId(type, Date.now()));
  for (const lost of [job, task, `${task}/1`, step].map(String)) {
    inputs.set(lost, { id: lost, file: null, name: "a.wav", size: 5, type: "", fingerprint: "" });
  }
  // Another tab sweeps.
  fullHost("swept", inputs);
  await expect.poll(() => [...inputs.keys()].sort()).toEqual([id, `${id}/0`]);
  stored.resolve();
  expect(await creating).toMatchObject({ id, status: "queued" });
});

test("a source that never answers is requested once, and its task fails after 20 s", async () => {
  vi.useFakeTimers();
  const requests: string[] = [];
  vi.stubGlobal("fetch", (url: string, { signal }: RequestInit) => {
    requests.push(url);
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  });
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  const records = new Map<string, Run>();
  const put = async (record: Run) => void records.set(record.id, record);
  const { host } = fullHost("silent", new Map(), put, async (id) => records.get(id) ?? null);
  const request = { kind: "audio", input: "https://silent.example.com/a.wav" };
  const { id } = await host.create("task", request, null, new Map());
  await vi.advanceTimersByTimeAsync(21_000);
  expect(records.get(id)).toMatchObject({
    status: "failed",
    error: {
      kind: "input_unreachable",
      message: "The source at silent.example.com did not answer within 20 s.",
    },
  });
  expect(requests).toHaveLength(1);
});
