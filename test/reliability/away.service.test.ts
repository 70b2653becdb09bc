import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { HEAVY_TOKEN, type Native, startNative } from "../inputs/heavy-rig.ts";
import { readFacts } from "../judge/facts.ts";
import { createRig } from "../worker/engine/rig.ts";

// Longer than three attempts with the delays between them, but for what awaits the encoder.
const AWAY_MS = 30_000;
const MINUTE = 60_000;
const BETWEEN = { name: "away-encoder", configPath: "./test/reliability/away/wrangler.toml" };

let folder: string;
let native: Native;
let origin: Origin;
let rig: ReturnType<typeof createRig>;
let base: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-away-"));
  [native, origin] = await Promise.all([startNative({}), startOrigin()]);
  rig = createRig({ NATIVE_ENCODER_URL: native.url, NATIVE_ENCODER_TOKEN: HEAVY_TOKEN }, BETWEEN);
  base = (await rig.server.listen()).url.origin;
});
afterAll(async () => {
  await Promise.all([rig?.server.close(), native?.close(), origin?.close()]);
  await rm(folder, { recursive: true, force: true });
});

const headers = { Authorization: "Bearer key-of-alpha", "Content-Type": "application/json" };

async function create(body: object): Promise<Task> {
  const response = await fetch(`${base}/tasks`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(201);
  return response.json() as Promise<Task>;
}

const light = async (path: "jobs" | "dies" | "there") => {
  const method = path === "jobs" ? "GET" : "PUT";
  const response = await rig.server.getWorker(BETWEEN.name).fetch(`http://away/${path}`, { method });
  return (await response.json()) as { sent: number; lost: number };
};

// The numbers of a task's attempts that failed, of the log.
function failedAttempts(id: string): number[] {
  const lines = rig.server.getLogs().flatMap((entry) => JSON.stringify(entry).split("\\n"));
  return lines.flatMap((line) =>
    line.includes("attempt failed") && line.includes(id) && line.includes("worker_lost")
      ? [Number(/attempt\W+(\d)/.exec(line)?.[1])]
      : [],
  );
}

async function expectWhole(task: Task, encoder: string): Promise<void> {
  const done = await vi.waitUntil(
    async () => {
      const current = (await rig.call(`/tasks/${task.id}`)).json as Task;
      return current.finished_at !== null && current;
    },
    { timeout: 4 * MINUTE, interval: 100 },
  );
  expect([done.error, done.steps[2]?.output?.encoder]).toEqual([null, encoder]);
  const path = join(folder, task.id);
  await writeFile(path, Buffer.from(await (await fetch(done.output ?? "")).arrayBuffer()));
  expect((await readFacts(path)).picture?.times).toHaveLength(125);
}

test(
  "tasks outlast half a minute without the encoder that does their work",
  async () => {
    // Several seconds of work natively, in which the encoder dies.
    const file = await clip("mp4_faststart", { size: "640x360", seconds: 5 });
    const input = origin.serve("/film.mp4", { file });
    const heavy = await create({ input, kind: "video", options: { codec: "h265" } });
    await vi.waitUntil(() => native.ffmpegs().length > 0, { timeout: 2 * MINUTE, interval: 50 });
    await light("dies");
    const small = await create({ input, kind: "video", options: { width: 160 } });
    await Promise.all([
      native.kill(),
      vi.waitUntil(async () => (await light("jobs")).lost > 0, { timeout: 2 * MINUTE, interval: 50 }),
    ]);
    await sleep(AWAY_MS);
    for (const { id } of [heavy, small]) {
      const response = await fetch(`${base}/tasks/${id}`, { headers });
      expect(await response.json()).toMatchObject({ status: "processing", error: null });
    }
    await Promise.all([native.restart(), light("there")]);
    await Promise.all([expectWhole(heavy, "native"), expectWhole(small, "light")]);
    // The light encoder's loss is an attempt; the native one's is not: its client begins the job again within one.
    expect([failedAttempts(small.id), failedAttempts(heavy.id)]).toEqual([[1], []]);
    expect((await light("jobs")).lost).toBe(1);
  },
  8 * MINUTE,
);
