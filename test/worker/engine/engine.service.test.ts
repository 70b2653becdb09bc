import { stat } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import {
  ENGINES,
  instanceStatus,
  startInstance,
  terminateInstance,
} from "../../../worker/run/workflow-instance.ts";
import { clip } from "../../fixtures/clips.ts";
import { hugeMp4 } from "../../fixtures/huge.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { type Bindings, createRig } from "./rig.ts";

const rig = createRig({ STALL_SECONDS: "20", MAX_INPUT_SECONDS: "10" });
let origin: Origin;
let env: Bindings;
// Hangs from the start, so that no test waits for the whole stall time.
let hanging: Task;

beforeAll(async () => {
  await rig.server.listen();
  origin = await startOrigin();
  env = await rig.worker().getEnv();
  hanging = await create("/tasks", { input: origin.serve("/hang", { silent: true }), kind: "video" });
});
afterAll(async () => {
  await origin.close();
  await rig.server.close();
});
beforeEach(() => origin.forget());

async function create<T extends Task | Step = Task>(path: "/tasks" | "/steps", body: unknown): Promise<T> {
  const answer = await rig.call(path, { method: "POST", body });
  expect(answer.status).toBe(201);
  return answer.json;
}

const isRequested = (path: string) =>
  rig.until(
    async () => origin.log.some((request) => request.path === path),
    (requested) => requested,
  );

async function list(status: string): Promise<Task[]> {
  return (await rig.call(`/tasks?limit=100&status=${status}`)).json;
}

async function keysOf(id: string): Promise<string[]> {
  const pages = await Promise.all(
    ["work", "out"].map((folder) => env.MEDIA.list({ prefix: `${folder}/${id}/` })),
  );
  return pages.flatMap((page) => page.objects.map((object) => object.key));
}

test("a task runs its four steps, is mirrored in KV and listed, and leaves no working files", async () => {
  const input = origin.serve("/sound.wav", { file: await clip("wav") });
  const { id } = await create("/tasks", {
    input,
    kind: "audio",
    options: { format: "mp3" },
    metadata: { mine: 1 },
  });
  const task = await rig.finished(id);
  expect(task.error).toBeNull();
  expect(task.steps.map(({ kind, status, progress }) => [kind, status, progress])).toEqual([
    ["probe", "succeeded", 100],
    ["ingest", "succeeded", 100],
    ["audio", "succeeded", 100],
    ["upload", "succeeded", 100],
  ]);
  expect(task.output).toBe(task.steps[3]?.output?.url);
  expect(task.output).toMatch(new RegExp(`/out/${id}/sound\\.mp3$`));
  const file = await rig.server.fetch(new URL(task.output ?? "").pathname);
  expect([file.status, file.headers.get("Content-Type")]).toEqual([200, "audio/mpeg"]);
  await file.arrayBuffer();

  const mirror = await rig.until(
    () => env.KV.get(`task:${id}`, "json") as Promise<{ project: string; record: Task } | null>,
    (value) => value?.record.status === "succeeded",
  );
  expect(mirror).toEqual({ project: "alpha", record: task });
  // The mirror expires before its object does.
  await env.KV.delete(`task:${id}`);
  expect((await rig.call(`/tasks/${id}`)).json).toEqual(task);
  expect((await rig.call("/tasks?status=succeeded&limit=1")).json).toEqual([task]);
  const keys = await rig.until(
    () => keysOf(id),
    (stored) => stored.every((key) => key.startsWith("out/")),
  );
  expect(keys).toEqual([`out/${id}/sound.mp3`]);
});

test("deletes a finished task with its mirror and output, for good", async () => {
  const input = origin.serve("/gone.wav", { file: await clip("wav") });
  const { id } = await create("/tasks", { input, kind: "audio", options: { format: "wav" } });
  const { output } = await rig.finished(id);
  expect((await rig.call(`/tasks/${id}`, { method: "DELETE" })).status).toBe(204);
  expect((await rig.call(`/tasks/${id}`)).json.kind).toBe("task_not_found");
  expect((await rig.call(`/tasks/${id}`, { method: "DELETE" })).status).toBe(404);
  expect(await env.KV.get(`task:${id}`, "json")).toBeNull();
  expect(await keysOf(id)).toEqual([]);
  // The Workflow keeps the result of every step.
  expect(await instanceStatus(env, id)).toBeNull();
  expect((await rig.call("/tasks?limit=100")).json.map((task: Task) => task.id)).not.toContain(id);
  expect((await rig.server.fetch(new URL(output ?? "").pathname)).status).toBe(404);
  // A stale copy in KV does not bring it back.
  await env.KV.put(`task:${id}`, JSON.stringify({ project: "alpha", record: { id } }));
  expect((await rig.call(`/tasks/${id}`)).status).toBe(404);
});

test("lists follow the states of their records", async () => {
  const input = origin.serve("/lists.wav", { status: 404, file: await clip("wav") });
  const created = await Promise.all(
    Array.from({ length: 20 }, () => create("/tasks", { input, kind: "audio" })),
  );
  await Promise.all(
    created.map(async ({ id }) => {
      expect((await rig.finished(id)).status).toBe("failed");
      const listed = async (status: string) => (await list(status)).some((task) => task.id === id);
      await rig.until(
        () => Promise.all(["queued", "processing", "failed"].map(listed)),
        (results) => results.join() === "false,false,true",
      );
    }),
  );
});

test("a cancelled run stops, deletes its files and stays cancelled", async () => {
  const input = origin.serve("/slow.mp4", {
    file: await clip("h264"),
    bytes_per_second: 2000,
    ranges: false,
  });
  const { id } = await create("/tasks", { input, kind: "video" });
  await isRequested("/slow.mp4");
  const cancelled = await rig.call(`/tasks/${id}/cancel`, { method: "POST" });
  expect([cancelled.status, cancelled.json.status]).toEqual([200, "cancelled"]);
  expect(cancelled.json.steps.map((step: Step) => step.status)).toEqual(Array(4).fill("cancelled"));
  const status = async () => instanceStatus(env, id);
  await rig.until(status, (now) => now === "complete" || now === "terminated");
  expect(await keysOf(id)).toEqual([]);
  expect((await rig.call(`/tasks/${id}/cancel`, { method: "POST" })).json.kind).toBe("task_finished");
  expect((await rig.call(`/tasks/${id}`)).json).toEqual(cancelled.json);
});

test("extra inputs are tried again, are limited, and leave nothing", async () => {
  const input = origin.serve("/under.mp4", { file: await clip("mp4", { seconds: 1 }) });
  const logo = await clip("png");
  const under = (path: string, answer: Parameters<Origin["serve"]>[1]) =>
    create("/tasks", {
      input,
      kind: "video",
      options: { width: 64, overlay: { url: origin.serve(path, answer) } },
    });
  const flaky = await under("/flaky.png", (request) => (request < 2 ? { status: 503 } : { file: logo }));
  const large = await under("/large.png", { file: logo, declared_total: 6e9 });
  const hanging = await under("/hanging.png", { silent: true });
  const { status, error } = await rig.finished(flaky.id);
  expect([status, error]).toEqual(["succeeded", null]);
  const bare = await rig.until(
    () => keysOf(flaky.id),
    (stored) => stored.every((key) => key.startsWith("out/")),
  );
  expect(bare).toEqual([`out/${flaky.id}/under.mp4`]);
  const failed = await rig.finished(large.id);
  expect(failed.error).toMatchObject({ kind: "input_too_large", step_id: failed.steps[1]?.id });
  expect(failed.error?.message).toMatch(/^options\.overlay\.url: /);
  await isRequested("/hanging.png");
  await rig.call(`/tasks/${hanging.id}/cancel`, { method: "POST" });
  for (const { id } of [large, hanging]) {
    await rig.until(
      () => keysOf(id),
      (keys) => keys.length === 0,
    );
  }
});

test("writes a record to KV when its status changes, not for its progress, and lists have both", async () => {
  const task = await create("/tasks", { input: origin.serve("/mirror", { silent: true }), kind: "video" });
  const step_id = task.steps[0]?.id ?? "";
  const read = async () => ((await env.KV.get(`task:${task.id}`, "json")) as { record: Task } | null)?.record;
  const mirrored = await rig.until(read, (record) => record?.status === "processing");
  const object = env.TASK.getByName(task.id) as unknown as {
    report(event: { type: "step_progressed"; step_id: string; progress: number }): Promise<boolean>;
  };
  for (const progress of [10, 60]) await object.report({ type: "step_progressed", step_id, progress });
  const listed = async () => (await list("processing")).find(({ id }) => id === task.id);
  await rig.until(listed, (record) => record?.steps[0]?.progress === 60);
  expect(await read()).toEqual(mirrored);
  const [key] = (await env.KV.list({ prefix: `task:${task.id}` })).keys;
  expect((key?.expiration ?? 0) - task.created_at / 1000).toBeCloseTo(90 * 86_400, -3);
  await rig.call(`/tasks/${task.id}/cancel`, { method: "POST" });
  await rig.until(read, (record) => record?.status === "cancelled");
});

test("retries a network fault, but not a missing input", async () => {
  const file = await clip("wav");
  const flaky = origin.serve("/flaky.wav", (request) => (request < 2 ? { status: 503, file } : { file }));
  const missing = origin.serve("/missing.wav", { status: 404, file });
  const probe = (url: string) => create<Step>("/steps", { kind: "probe", input: { url } });
  const first = await rig.finishedStep((await probe(flaky)).id);
  expect([first.status, first.output?.format]).toEqual(["succeeded", "wav"]);
  expect(
    origin.log
      .filter(({ path }) => path === "/flaky.wav")
      .map(({ status }) => status)
      .slice(0, 3),
  ).toEqual([503, 503, 206]);
  const second = await rig.finishedStep((await probe(missing)).id);
  expect(second.error).toMatchObject({ kind: "input_not_found", retryable: false });
  expect(origin.log.filter(({ path }) => path === "/missing.wav")).toHaveLength(1);
});

test("rejects an input that is too long before copying it", async () => {
  const file = await clip("wav", { seconds: 12 });
  const input = origin.serve("/long.wav", { file });
  const task = await rig.finished((await create("/tasks", { input, kind: "audio" })).id);
  expect(task.error).toMatchObject({ kind: "input_too_large", step_id: task.steps[1]?.id });
  expect(task.error?.message).toBe("The input lasts 12 seconds; the limit is 10.");
  const sent = origin.log.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan((await stat(file)).size / 2);
});

test("rejects a file too large for the light encoder before copying it, with the reason", async () => {
  const input = origin.serve("/huge.mp4", {
    file: await hugeMp4(70_000_000, await clip("mp4", { seconds: 2 })),
  });
  const options = { format: "mov" };
  const task = await rig.finished((await create("/tasks", { input, kind: "video", options })).id);
  expect(task.error).toMatchObject({ kind: "encoder_unavailable", step_id: task.steps[1]?.id });
  expect(origin.log.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(1_000_000);
  expect(task.error?.message).toMatch(
    /^No encoder here can do this \(light: .+ of the input would have to be in memory/,
  );
});

test("the watch fails a run whose engine died as worker_lost", async () => {
  const { id } = await create("/tasks", { input: origin.serve("/dead", { silent: true }), kind: "video" });
  await isRequested("/dead");
  await terminateInstance(env, id);
  expect((await rig.finished(id)).error).toMatchObject({ kind: "worker_lost", retryable: true });
});

test("fails a run that hangs without progress as stalled", async () => {
  const task = await rig.finished(hanging.id);
  expect(task.error).toMatchObject({ kind: "stalled", step_id: task.steps[0]?.id });
  expect(task.steps.map(({ status }) => status)).toEqual(["failed", "cancelled", "cancelled", "cancelled"]);
});

test("runs are spread over three Workflows, and one that began in another than its own is found", async () => {
  const ids = Array.from({ length: 9 }, (_, index) => `task_spread_000${index}`);
  await Promise.all(ids.map((id) => startInstance(env, id)));
  const startedIn = async (name: (typeof ENGINES)[number]) =>
    (await Promise.allSettled(ids.map((id) => env[name].get(id)))).filter(
      ({ status }) => status === "fulfilled",
    );
  for (const name of ENGINES) expect(await startedIn(name)).toHaveLength(3);
  const elsewhere = "task_elsewhere_0001";
  await env.RUN.create({ id: elsewhere, params: { id: elsewhere } });
  expect(await instanceStatus(env, elsewhere)).not.toBeNull();
  expect(await instanceStatus(env, "task_nowhere_0001")).toBeNull();
});
