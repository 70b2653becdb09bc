import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createIds } from "../../../src/runs/ids.ts";
import { createJobTasks, type Job } from "../../../src/runs/job.ts";
import { parseJobRequest } from "../../../src/runs/job-request.ts";
import type { Task } from "../../../src/runs/task.ts";
import { isFinished } from "../../../src/runs/transitions.ts";
import type { NewJob } from "../../../worker/jobs/job-state.ts";
import type { Origin } from "../../fixtures/origin.ts";
import { readFacts } from "../../judge/facts.ts";
import { measureLikeness } from "../../judge/likeness.ts";
import { type Receiver, startReceiver } from "../webhooks/receiver.ts";
import { closeFilm, type FilmRig, startFilm } from "./film-rig.ts";
import { type Bindings, createRig } from "./rig.ts";

const rig = createRig();
let rigged: FilmRig | undefined;
let origin: Origin;
let env: Bindings;
let folder: string;
let film: string;
let bytes: number;
let base: string;
let receiver: Receiver;

beforeAll(async () => {
  rigged = await startFilm(rig, FILM);
  ({ origin, env, folder, film, bytes, base } = rigged);
  receiver = await startReceiver();
});
afterAll(() => Promise.all([closeFilm(rig, rigged), receiver?.close()]));
beforeEach(() => origin.forget());

// Two seconds, with sound.
const FILM = { size: "320x180", seconds: 2, coded: "-b:v 3M -g 25" };

async function create(body: unknown): Promise<Job> {
  const answer = await rig.call("/jobs", { method: "POST", body });
  expect([answer.status, answer.json]).toEqual([201, expect.objectContaining({ object: "job" })]);
  return answer.json;
}

const read = async (id: string): Promise<Job> => (await rig.call(`/jobs/${id}`)).json;
const finished = (id: string) => rig.until(() => read(id), isFinished);
const sent = () => origin.log.reduce((sum, request) => sum + request.bytes, 0);
const keysIn = async (prefix: string) =>
  (await env.MEDIA.list({ prefix })).objects.map(({ key }) => key.slice(prefix.length));
const outcomes = (job: Job) => job.tasks.map(({ status, error }) => [status, error?.message ?? null]);

async function save(task: Task | undefined): Promise<string> {
  const { pathname } = new URL(task?.output ?? "");
  const response = await rig.server.fetch(pathname);
  const path = join(folder, `${task?.id}-${pathname.split("/").at(-1)}`);
  await writeFile(path, new Uint8Array(await response.arrayBuffer()));
  return path;
}

const FIVE = [
  { name: "large", kind: "video", options: { width: 240 }, metadata: { mine: 1 } },
  { name: "small", kind: "video", options: { width: 160 } },
  { kind: "image", options: { format: "png", start: 1 } },
  { kind: "storyboard", options: { interval: 1, width: 80 } },
  { kind: "audio", options: { format: "mp3" } },
];

test("five outputs of one input read it once, and each is a task of its own", async () => {
  const input = origin.serve("/five.mp4", { file: film });
  const job = await create({ input, outputs: FIVE, webhook_url: receiver.serve("/five") });
  expect(job).toMatchObject({ input, status: "queued", started_at: null, finished_at: null });
  expect(job.tasks.map(({ kind, job }) => [kind, job])).toEqual([
    ["video", { id: job.id, name: "large" }],
    ["video", { id: job.id, name: "small" }],
    ...["image", "storyboard", "audio"].map((kind) => [kind, { id: job.id }]),
  ]);
  const follow = (more = {}) =>
    rig.server.fetch(`/jobs/${job.id}/events`, {
      headers: { Authorization: "Bearer key-of-alpha", ...more },
    });
  const stream = await follow();
  expect(stream.headers.get("Content-Type")).toBe("text/event-stream");
  const lines = [...(await stream.text()).matchAll(/^data: (.*)$/gm)];
  const updates = lines.map(([, data = ""]) => JSON.parse(data));
  const done = await finished(job.id);
  expect(updates.at(-1)).toEqual({ record: done, progress: 100, eta: 0 });
  expect(updates[0].record).toMatchObject({ id: job.id, finished_at: null });
  expect((await follow({ "Last-Event-ID": String(done.updated_at) })).status).toBe(204);
  const missed = await follow({ "Last-Event-ID": "0" });
  expect(await missed.text()).toContain(`id: ${done.updated_at}\n`);
  expect(outcomes(done)).toEqual(FIVE.map(() => ["succeeded", null]));
  expect([done.status, done.tasks.map(({ id }) => id)]).toEqual(["succeeded", job.tasks.map(({ id }) => id)]);
  // Bytes sent before the server is known to support ranges are sent twice.
  expect(sent()).toBeLessThan(bytes * 1.2);

  const [large, small, still, , sound] = done.tasks;
  for (const [task, width] of [
    [large, 240],
    [small, 160],
  ] as const) {
    const facts = await readFacts(await save(task));
    expect([facts.picture?.width, facts.picture?.times.length]).toEqual([width, 50]);
    expect((await rig.call(`/tasks/${task?.id}`)).json).toEqual(task);
  }
  expect(large?.metadata).toEqual({ mine: 1 });
  const png = await save(still);
  const { mean } = await measureLikeness(png, film, { input: ["-ss", "1"], filter: "trim=end_frame=1" });
  expect(mean).toBeGreaterThan(0.99);
  expect((await readFacts(await save(sound))).sound?.codec).toBe("mp3");

  expect((await rig.call("/jobs?limit=1")).json).toEqual([done]);
  const ofJob = async () => receiver.requests("/five").filter(({ event }) => event.kind.startsWith("job."));
  const [first] = await rig.until(ofJob, (got) => got.length > 0);
  expect([first?.event.kind, first?.event.data]).toEqual(["job.succeeded", done]);
  const { json: events } = await rig.call("/events?kind=job.succeeded");
  expect(events).toEqual([first?.event]);
  const { json: deliveries } = await rig.call("/webhooks/deliveries?kind=job.succeeded");
  expect(deliveries).toHaveLength(1);
  const replayed = await rig.call(`/webhooks/deliveries/${deliveries[0].id}/replay`, { method: "POST" });
  expect(replayed.status).toBe(200);
  const [, again] = await rig.until(ofJob, (got) => got.length > 1);
  expect(again?.event).toEqual(first?.event);
  await rig.until(
    () => keysIn(`work/${job.id}/`),
    (keys) => keys.length === 0,
  );
  const retried = await rig.call(`/tasks/${small?.id}/retry`, { method: "POST" });
  expect([retried.status, retried.json.job, retried.json.input]).toEqual([201, undefined, input]);
  await rig.finished(retried.json.id);
});

test("an output that comes after another one reads its file, and fails when that fails", async () => {
  const input = origin.serve("/after.mp4", { file: film });
  const { id, tasks } = await create({
    input,
    outputs: [
      { name: "poster", after: "cut", kind: "image", options: { format: "png" } },
      { name: "cut", kind: "video", options: { width: 160, start: 1, end: 2 } },
      { name: "late", kind: "audio", options: { start: 100 } },
      { after: 2, kind: "audio", options: { format: "mp3" } },
      { after: 3, kind: "audio", options: { format: "mp3" } },
    ],
  });
  expect(tasks.map(({ job }) => job?.after)).toEqual([
    tasks[1]?.id,
    undefined,
    undefined,
    tasks[2]?.id,
    tasks[3]?.id,
  ]);
  const done = await finished(id);
  const [poster, cut, late, behind, last] = done.tasks;
  expect([poster?.status, cut?.status, done.status]).toEqual(["succeeded", "succeeded", "failed"]);
  expect(poster?.input).toBe(cut?.output);
  const { mean } = await measureLikeness(await save(poster), await save(cut), { filter: "trim=end_frame=1" });
  expect(mean).toBeGreaterThan(0.99);
  expect(late?.error?.reason).toMatchObject({ code: "start_beyond_end" });
  expect([behind, last].map((task) => task?.error)).toEqual(
    [late, behind].map((task) =>
      expect.objectContaining({
        kind: "input_not_found",
        message: `The input is the output of ${task?.id}, which failed.`,
        reason: { code: "after", task: task?.id, ended: "failed" },
      }),
    ),
  );
});

test("a job is cancelled, its tasks are deleted one by one or together, and other projects do not see it", async () => {
  const input = origin.serve("/hang", { silent: true });
  const outputs = [{ kind: "video" }, { kind: "audio" }, { kind: "audio", after: 0 }];
  const job = await create({ input, outputs, webhook_url: receiver.serve("/job") });
  const path = `/jobs/${job.id}`;
  // Webhooks announce the waiting task as well.
  const ids = job.tasks.map(({ id }) => id).toSorted();
  const events = (kind: string) => async () => [
    ...new Set(receiver.requests("/job").flatMap(({ event }) => (event.kind === kind ? event.data.id : []))),
  ];
  const ofAll = (got: string[]) => isDeepStrictEqual(got.toSorted(), ids);
  await rig.until(events("task.created"), ofAll);
  await rig.until(
    async () => origin.log.length,
    (count) => count > 0,
  );
  const foreign = { key: "key-of-beta" };
  for (const [at, method] of [
    [path, "GET"],
    [`${path}/cancel`, "POST"],
    [path, "DELETE"],
  ] as const)
    expect((await rig.call(at, { method, ...foreign })).json.kind).toBe("job_not_found");
  expect((await rig.call("/jobs", foreign)).json).toEqual([]);

  expect((await rig.call(path, { method: "DELETE" })).json.kind).toBe("job_running");
  const cancelled = await rig.call(`${path}/cancel`, { method: "POST" });
  expect([cancelled.status, outcomes(cancelled.json), cancelled.json.status]).toEqual([
    200,
    outputs.map(() => ["cancelled", null]),
    "cancelled",
  ]);
  expect((await rig.call(`${path}/cancel`, { method: "POST" })).json.kind).toBe("job_finished");
  await rig.until(events("task.cancelled"), ofAll);
  await rig.until(events("job.cancelled"), (got) => got.length === 1 && got[0] === job.id);
  await rig.call(`/tasks/${job.tasks[0]?.id}`, { method: "DELETE" });
  expect((await read(job.id)).tasks.map(({ id }) => id)).toEqual(job.tasks.slice(1).map(({ id }) => id));
  expect((await rig.call(path, { method: "DELETE" })).status).toBe(204);
  expect((await rig.call(path)).json.kind).toBe("job_not_found");
  expect((await rig.call("/jobs?limit=100")).json.map(({ id }: Job) => id)).not.toContain(job.id);
  for (const { id } of job.tasks) expect((await rig.call(`/tasks/${id}`)).status).toBe(404);
  // A part of the shared input may have been on its way.
  await env.MEDIA.put(`work/${job.id}/late`, "late");
  await rig.until(
    async () => (await env.MEDIA.list({ prefix: `work/${job.id}/` })).objects.length,
    (left) => left === 0,
  );
});

test("a job that is cancelled while its tasks are created, of which one cannot be, leaves none of them", async () => {
  const input = origin.serve("/early", { silent: true });
  const ids = createIds(Math.random);
  const head = { id: ids("job", Date.now()), input, created_at: Date.now() };
  const outputs = Array.from({ length: 3 }, () => ({ kind: "audio" }));
  const [first, second, third] = createJobTasks(head, parseJobRequest({ input, outputs }), ids) as [
    Task,
    Task,
    Task,
  ];
  // The project cannot list the job, however often it tries.
  const tasks = [first, second, { ...third, kind: null as unknown as "audio" } as Task];
  const object = env.JOB.getByName(head.id) as unknown as {
    create(job: NewJob): Promise<boolean>;
    cancel(project: string): Promise<string>;
  };
  const settings = { base, key_id: "key", webhook_url: receiver.serve("/refused") };
  const creating = object.create({ project: "alpha", head, tasks, made: settings, keys: {} });
  let settled = false;
  void creating.finally(() => {
    settled = true;
  });
  const status = async ({ id }: Task) => (await rig.call(`/tasks/${id}`)).status;
  await rig.until(
    () => status(second),
    (answer) => answer === 200 || settled,
  );
  expect(await Promise.all([creating, object.cancel("alpha")])).toEqual([false, "unknown"]);
  for (const task of tasks)
    await rig.until(
      () => status(task),
      (answer) => answer === 404,
      20_000,
    );
  expect((await rig.call("/jobs?limit=100")).json.map(({ id }: Job) => id)).not.toContain(head.id);
  // No event was sent for a task that was not created.
  expect(receiver.requests("/refused")).toEqual([]);
});

test("a task that is cancelled or deleted leaves the input to the others", async () => {
  const input = origin.serve("/left.mp4", { file: film, bytes_per_second: bytes / 2, ranges: false });
  const outputs = [
    { kind: "video", options: { width: 160 } },
    { kind: "audio" },
    { kind: "image", after: 0 },
  ];
  const { id, tasks } = await create({ input, outputs });
  // One of them reads the input for all.
  await rig.until(
    async () => origin.log.length,
    (count) => count > 0,
  );
  expect((await rig.call(`/tasks/${tasks[0]?.id}/cancel`, { method: "POST" })).status).toBe(200);
  expect((await rig.call(`/tasks/${tasks[0]?.id}`, { method: "DELETE" })).status).toBe(204);
  const done = await finished(id);
  expect(done.tasks.map(({ kind, status }) => [kind, status])).toEqual([
    ["audio", "succeeded"],
    ["image", "failed"],
  ]);
  expect(done.tasks[1]?.error?.reason).toMatchObject({ code: "after" });
  expect((await readFacts(await save(done.tasks[0]))).sound?.codec).toBeDefined();
});
