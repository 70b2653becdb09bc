import { MediaError } from "../../../src/media/errors.ts";
import * as planErrors from "../../../src/media/plan-errors.ts";
import { createIds } from "../../../src/runs/ids.ts";
import type { StoredObject } from "../../../src/runs/ports.ts";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import { isFinished } from "../../../src/runs/transitions.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { readAll } from "../../../src/storage/storage.ts";
import { createApp } from "../../../worker/app.ts";
import { createSeal } from "../../../worker/connections/seal.ts";
import type { ApiSettings } from "../../../worker/http/context.ts";
import { createLog } from "../../../worker/log.ts";
import { createImageSigner, createSigner } from "../../../worker/media/signed-urls.ts";
import { createOutside, type OutsideNetwork } from "../../../worker/network/outside.ts";
import { createMemoryConnections, createMemoryIdempotency } from "./memory-connections.ts";
import { createMemoryJobs } from "./memory-jobs.ts";
import { createMemoryKeys, type MemoryLimits } from "./memory-keys.ts";
import { createMemoryPageUploads } from "./memory-page-uploads.ts";
import { createMemoryFindStep, createMemoryRuns } from "./memory-runs.ts";
import { createMemoryUploads } from "./memory-uploads.ts";
import { createMemoryWebhooks } from "./memory-webhooks.ts";

/** The bearer header of the key that the in-memory API knows. */
export const KEY = { Authorization: "Bearer good-key" };

/** Builds the whole API over memory: routes, errors and checks are the real ones, and nothing runs. */
export function createMemoryApi(
  settings: ApiSettings = {},
  network: OutsideNetwork = {},
  limits: MemoryLimits = {},
) {
  const tasks = createMemoryRuns<Task>("task");
  const steps = createMemoryRuns<Step>("step");
  const objects = new Map<string, Omit<StoredObject, "body"> & { bytes: Uint8Array<ArrayBuffer> }>();
  const signer = createSigner(["a secret"], Date.now);
  const stored = createMemoryStorage();
  const connections = createMemoryConnections();
  const outside = createOutside(settings, network);
  const lines: string[] = [];
  const app = createApp({
    tasks,
    jobs: createMemoryJobs(tasks),
    steps,
    findStep: createMemoryFindStep(tasks, steps),
    openMedia: () => ({
      head: async (key) => objects.get(key) ?? null,
      async read(key, range) {
        const object = objects.get(key);
        if (!object) return null;
        return { ...object, body: new Blob([object.bytes.slice(range?.start, range?.end)]).stream() };
      },
    }),
    uploads: createMemoryUploads({
      async write(key, body, mime) {
        const info = await stored.write(key, body, mime);
        const object = await stored.read(key);
        if (object) objects.set(key, { ...info, bytes: await readAll(object.body) });
        return info;
      },
    }),
    page_uploads: createMemoryPageUploads(connections, outside),
    async goesOn(run_id) {
      const record = tasks.find(run_id) ?? steps.find(run_id);
      return record !== null && !isFinished(record);
    },
    connections,
    webhooks: createMemoryWebhooks(),
    seal: createSeal(["a secret of the tests"]),
    outside,
    idempotency: createMemoryIdempotency(),
    metrics: async () => ({ measured: [], open: [], database_bytes: 0 }),
    log: createLog("info", (_, text) => lines.push(text)),
    ...createMemoryKeys("mine:good-key,theirs:other-key", limits),
    signer,
    image_signer: createImageSigner(["a secret"], Date.now),
    async images() {
      throw new MediaError("input_not_found", "There are no pictures here.");
    },
    async estimates(_, { kind }) {
      if (kind === "audio") throw planErrors.noSound();
      return { bytes: { low: 1000, high: 1000 }, seconds: 1, score: null };
    },
    async previews(_, { kind, at = null }) {
      if (kind === "audio") throw planErrors.noSound();
      const jpeg = "data:image/jpeg;base64,/9j/";
      return { original: jpeg, output: jpeg, bytes: 3, seconds: null, at, width: 1, height: 1 };
    },
    assets: { fetch: async () => new Response("no file", { status: 404 }) },
    settings,
    now: Date.now,
    id: createIds(Math.random),
  });
  return { app, tasks, steps, objects, signer, lines };
}
