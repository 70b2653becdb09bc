import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { dataOf } from "../../worker/local/service.ts";
import { clip } from "../fixtures/clips.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { family, running } from "../local/run-script.ts";
import { type Lab, startLab } from "./lab.ts";

let lab: Lab;
let origin: Origin;
beforeAll(async () => {
  // One run at a time may do heavy work.
  const more = { MAX_HEAVY_TOTAL: "1" };
  [lab, origin] = await Promise.all([startLab({ more }), startOrigin()]);
});
afterAll(() => Promise.all([lab.close(), origin.close()]));

const STEPS = ["probe", "ingest", "encode", "upload"];
const at = (task: Task, step: string) => task.steps[STEPS.indexOf(step)];

async function create(body: object): Promise<Task> {
  const { status, body: task } = await lab.door.request<Task>("POST", "/tasks", body);
  expect(status).toBe(201);
  return task;
}

async function get(id: string): Promise<Task> {
  return (await lab.door.request<Task>("GET", `/tasks/${id}`)).body;
}

// Waits until the step is at work; returns the record at that time.
async function reach(id: string, step: string, ready: (task: Task) => boolean = () => true): Promise<Task> {
  let before = await get(id);
  while (at(before, step)?.status !== "processing" || !ready(before)) {
    if (before.finished_at) throw new Error(`too late: ${JSON.stringify(before)}`);
    before = await get(id);
  }
  return before;
}

async function crash(): Promise<void> {
  await lab.crash();
  await expect(lab.door.request("GET", "/tasks")).rejects.toThrow("fetch failed");
}

async function finish(id: string): Promise<Task> {
  return vi.waitUntil(
    async () => {
      const task = await get(id);
      return task.finished_at !== null && task;
    },
    { timeout: 90_000, interval: 100 },
  );
}

interface Probed {
  format: { duration: string };
}

// One task has one complete output, and nothing done before the crash was done again.
async function expectOnce(before: Task, extension: string, seconds: number): Promise<Task> {
  const task = await finish(before.id);
  expect(task.error).toBeNull();
  expect(task.status).toBe("succeeded");
  expect(task.steps.map(({ status, progress }) => `${status} ${progress}`)).toEqual(
    Array(4).fill("succeeded 100"),
  );
  if (before.started_at !== null) expect(task.started_at).toBe(before.started_at);
  for (const [index, step] of before.steps.entries()) {
    if (step.status === "succeeded") expect(task.steps[index]).toEqual(step);
    if (step.status === "processing") expect(task.steps[index]?.started_at).toBe(step.started_at);
  }
  const { body: tasks } = await lab.door.request<Task[]>("GET", "/tasks?limit=100");
  expect(tasks.filter(({ id }) => id === task.id)).toHaveLength(1);
  const { path } = await lab.door.fetchFile(task.output ?? "");
  const { format } = (await runFfprobe(path)) as Probed;
  // Lossy audio is padded by a frame or two.
  expect(Math.abs(Number(format.duration) - seconds)).toBeLessThan(0.1);
  await vi.waitFor(
    () => {
      const keys = lab.stored().map(({ key }) => key);
      expect(keys.filter((key) => key.includes(task.id))).toEqual([
        expect.stringMatching(new RegExp(`^out/${task.id}/[^/]+\\.${extension}$`)),
      ]);
    },
    { timeout: 30_000 },
  );
  return task;
}

// A source without an ETag is copied; any other is read where it is.
test("tasks recover from a crash during a probe, during an ingest, and right after the answer to a new one", async () => {
  const [mp4, wav, long] = await Promise.all([clip("mp4"), clip("wav"), clip("wav", { seconds: 20 })]);
  const size = 20 * 44_100 * 4;
  let held = true;
  const probing = origin.serve("/probe.mp4", () => (held ? { silent: true } : { file: mp4 }));
  const copied = origin.serve("/ingest.wav", () => ({
    ...{ file: long, etag: null },
    ...(held && { bytes_per_second: 700_000 }),
  }));
  const probed = await create({ input: probing, kind: "audio" });
  const probe = await reach(probed.id, "probe", () => origin.log.some(({ path }) => path === "/probe.mp4"));
  const { id } = await create({ input: copied, kind: "audio", options: { format: "opus" } });
  const received = () =>
    origin.log.filter(({ path }) => path === "/ingest.wav").reduce((n, { bytes }) => n + bytes, 0);
  const ingest = await reach(id, "ingest", () => received() > size / 4);
  const created = await create({ input: origin.serve("/new.wav", { file: wav }), kind: "audio" });
  expect(received()).toBeLessThan(size);
  await crash();
  origin.forget();
  held = false;
  await lab.restart();
  await expectOnce(probe, "mp3", 2);
  await expectOnce(ingest, "opus", 20);
  // Nothing is probed again, and the file is fetched at most once more.
  expect(received()).toBeLessThanOrEqual(size * 1.05);
  await expectOnce(created, "mp3", 2);
});

test("a run whose Workflow instance was stored but had not begun at the crash begins after the restart", async () => {
  let held = true;
  const file = await clip("wav");
  const input = origin.serve("/unbegun.wav", () => (held ? { silent: true } : { file }));
  const { id } = await create({ input, kind: "audio" });
  const before = await reach(id, "probe");
  await crash();
  // The engine stores an instance and, some milliseconds later, that it runs; the second write is undone.
  const folder = join(dataOf({ state_dir: lab.folder }), "v3", "workflows");
  let undone = 0;
  for (const path of globSync("*/*.sqlite", { cwd: folder })) {
    const database = new DatabaseSync(join(folder, path));
    const [table] = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = '_cf_KV'").all();
    if (table)
      undone += Number(database.prepare("DELETE FROM _cf_KV WHERE key = 'ENGINE_STATUS'").run().changes);
    database.close();
  }
  expect(undone).toBeGreaterThan(0);
  held = false;
  await lab.restart();
  await expectOnce(before, "mp3", 2);
});

test("recovers from a crash during the encode", async () => {
  const file = await clip("mp4", { size: "320x180", seconds: 20 });
  const input = origin.serve("/encode.mp4", { file, etag: null });
  const { id } = await create({ input, kind: "video", options: { quality: "high" } });
  // The service and this test share the machine's clock.
  const works = (task: Task) => Date.now() - (at(task, "encode")?.started_at ?? Infinity) > 200;
  const before = await reach(id, "encode", works);
  await crash();
  origin.forget();
  await lab.restart();
  await expectOnce(before, "mp4", 20);
  // The copy in storage suffices.
  expect(origin.log).toEqual([]);
});

test("a crash between chunks re-encodes none that are done", async () => {
  const file = await clip("mp4", { rate: 10, seconds: 180 });
  const input = origin.serve("/chunks.mp4", { file });
  const { id } = await create({ input, kind: "video", options: { width: 128 } });
  const chunks = () => lab.stored().filter(({ key }) => key.startsWith(`work/${id}/chunks/`));
  const before = await reach(id, "encode", () => chunks().length > 1);
  await crash();
  const done = chunks();
  await lab.restart();
  await vi.waitUntil(() => chunks().length > done.length, { timeout: 60_000, interval: 20 });
  // The versions are the same, in any order, because several chunks are encoded at once.
  expect(chunks()).toEqual(expect.arrayContaining(done));
  const between = await get(id);
  expect(at(between, "encode")?.progress).toBeGreaterThanOrEqual(at(before, "encode")?.progress ?? 100);
  await expectOnce(before, "mp4", 180);
});

test("recovers from a crash during the upload", async () => {
  const file = await clip("mp4");
  const input = origin.serve("/upload.mp4", { file });
  // The step takes a few milliseconds: too short to catch over HTTP, and a busy machine may miss it
  // altogether.
  let before: Task | null = null;
  for (let tries = 0; tries < 20 && !before; tries++) {
    const { id } = await create({ input, kind: "video", options: { format: "webm" } });
    const encodes = async () => at(await get(id), "encode")?.status !== "waiting";
    await vi.waitUntil(encodes, { timeout: 60_000, interval: 5 });
    before = await lab.crashWhen(id, (task) => at(task, "upload")?.status === "processing");
  }
  if (!before) throw new Error("No upload was seen.");
  await lab.restart();
  await expectOnce(before, "webm", 2);
});

test("an encode by ffmpeg completes after a crash, and a run that sleeps until its turn for heavy work gets it", async () => {
  const input = origin.serve("/heavy.mp4", { file: await clip("mp4", { size: "320x180", seconds: 10 }) });
  const heavy = { input, kind: "video", options: { codec: "h265" } };
  const ids = [(await create(heavy)).id, (await create(heavy)).id];
  await vi.waitUntil(() => ids.some((id) => lab.turn(id) === "heavy_waits"), {
    timeout: 30_000,
    interval: 20,
  });
  const servers = lab.pids("native");
  const ffmpegs = () => servers.flatMap(family).filter((pid) => !servers.includes(pid));
  const pids = await vi.waitUntil(() => ffmpegs().length > 0 && ffmpegs(), { timeout: 60_000, interval: 20 });
  const before = await Promise.all(ids.map(get));
  expect(before.map((task) => at(task, "encode")?.status).toSorted()).toContain("processing");
  await crash();
  await expect.poll(() => running(pids), { interval: 20 }).toEqual([]);
  expect(before.map(({ id }) => lab.turn(id))).toContain("heavy_waits");
  await lab.restart();
  for (const each of before) await expectOnce(each, "mp4", 10);
});
