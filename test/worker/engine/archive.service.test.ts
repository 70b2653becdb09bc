import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { R2Bucket } from "@cloudflare/workers-types";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createIds } from "../../../src/runs/ids.ts";
import type { Job } from "../../../src/runs/job.ts";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import { isFinished } from "../../../src/runs/transitions.ts";
import { createArchive, createJobArchive, createRetirement } from "../../../worker/run/archive.ts";
import { createRunIndex } from "../../../worker/run/run-index.ts";
import type { Sql } from "../../../worker/sql.ts";
import { QUEUED } from "../../client/records.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { type Bindings, createRig } from "./rig.ts";

const rig = createRig({ MEDIA_TTL: "15", RECORD_TTL: "1" });
let origin: Origin;
let env: Bindings;

beforeAll(async () => {
  [origin] = await Promise.all([startOrigin(), rig.server.listen()]);
  env = await rig.worker().getEnv();
});
afterAll(async () => {
  await rig.server.close();
  await origin?.close();
});

const lines = async (project = "alpha") => {
  const { objects } = await env.MEDIA.list({ prefix: `archive/${project}/` });
  const files = await Promise.all(
    objects.map(async ({ key }) => {
      const bytes = await (await env.MEDIA.get(key))?.arrayBuffer();
      return new TextDecoder().decode(bytes).split("\n");
    }),
  );
  return files.flat();
};
const readObject = (id: string) => {
  const object = env.TASK.getByName(id) as unknown as { read(project: string): Promise<string | null> };
  return object.read("alpha");
};
const list = async (path: string): Promise<unknown[]> => (await rig.call(path)).json;

test("records move to the archive, where they are read, not cancelled, and deleted one by one", async () => {
  const input = origin.serve("/still.png", { file: await clip("png") });
  const post = async <T>(path: string, body: object): Promise<T> =>
    (await rig.call(path, { method: "POST", body })).json;
  const image = { input, kind: "image", options: { format: "webp", width: 64 } };
  const created = [
    await post<Task>("/tasks", image),
    await post<Task>("/tasks", { ...image, metadata: { name: "other" } }),
  ];
  const step = await post<Step>("/steps", { kind: "probe", input: { object: "external_file", url: input } });
  const [one, other] = await Promise.all(created.map(({ id }) => rig.finished(id)));
  const probed = await rig.finishedStep(step.id);
  expect([one?.status, other?.status, probed.status]).toEqual(["succeeded", "succeeded", "succeeded"]);

  await rig.until(
    async () => [...(await list("/tasks")), ...(await list("/steps"))],
    (records) => records.length === 0,
  );
  // Only the archive has them now.
  for (const id of [one, other].map((task) => task?.id ?? "")) {
    await env.KV.delete(`task:${id}`);
    expect(await readObject(id)).toBeNull();
  }
  expect((await rig.call(`/tasks/${one?.id}`)).json).toEqual(one);
  expect((await rig.call(`/tasks/${other?.id}`)).json).toEqual(other);
  expect((await rig.call(`/steps/${step.id}`)).json).toEqual(probed);
  expect((await lines()).map((line) => JSON.parse(line).id).sort()).toEqual(
    [one?.id, other?.id, step.id].sort(),
  );
  // The steps of an archived task.
  for (const own of one?.steps ?? []) expect((await rig.call(`/steps/${own.id}`)).json).toEqual(own);
  const elsewhere = await rig.call(`/tasks/${one?.id}`, { key: "key-of-beta" });
  expect([elsewhere.status, elsewhere.json.kind]).toEqual([404, "task_not_found"]);
  const cancelled = await rig.call(`/tasks/${one?.id}/cancel`, { method: "POST" });
  expect([cancelled.status, cancelled.json.kind]).toEqual([409, "task_finished"]);

  expect((await rig.call(`/tasks/${one?.id}`, { method: "DELETE" })).status).toBe(204);
  expect((await rig.call(`/tasks/${one?.id}`)).status).toBe(404);
  expect((await rig.call(`/tasks/${other?.id}`)).json).toEqual(other);
  expect((await lines()).some((line) => line.includes(one?.id ?? "none"))).toBe(false);
  expect((await rig.call(`/tasks/${one?.id}`, { method: "DELETE" })).status).toBe(404);
});

test("a job moves to the archive with its tasks, where it is read, not cancelled, and deleted with them", async () => {
  const input = origin.serve("/shared.png", { file: await clip("png") });
  // Enough that some are deleted while others are freed.
  const outputs = [16, 24, 32, 40, 48, 64].map((width) => ({
    kind: "image",
    options: { format: "jpeg", width },
  }));
  const { id } = (await rig.call("/jobs", { method: "POST", body: { input, outputs } })).json as Job;
  const read = async () => (await rig.call(`/jobs/${id}`)).json as Job;
  const done = await rig.until(read, isFinished);
  expect(done).toMatchObject({ status: "succeeded", tasks: outputs.map(({ kind }) => ({ kind })) });
  await rig.until(
    () => lines(),
    (stored) => stored.some((line) => line.startsWith(`{"id":"${id}"`)),
  );
  await rig.until(
    () => list("/jobs"),
    (jobs) => jobs.length === 0,
  );
  const object = env.JOB.getByName(id) as unknown as { find(project: string): Promise<unknown> };
  expect(await object.find("alpha")).toBeNull();
  expect(await read()).toEqual(done);
  const elsewhere = await rig.call(`/jobs/${id}`, { key: "key-of-beta" });
  expect([elsewhere.status, elsewhere.json.kind]).toEqual([404, "job_not_found"]);
  const cancelled = await rig.call(`/jobs/${id}/cancel`, { method: "POST" });
  expect([cancelled.status, cancelled.json.kind]).toEqual([409, "job_finished"]);

  expect((await rig.call(`/jobs/${id}`, { method: "DELETE" })).status).toBe(204);
  for (const path of [`/jobs/${id}`, ...done.tasks.map((task) => `/tasks/${task.id}`)])
    expect((await rig.call(path)).status).toBe(404);
  expect((await lines()).filter((line) => line.includes(id))).toEqual([]);
  expect((await rig.call(`/jobs/${id}`, { method: "DELETE" })).status).toBe(404);
});

test("an archived job goes with the last of its tasks, and one that is deleted on its way to the archive", async () => {
  const archive = createJobArchive(archiveOf("alpha"));
  const jobAt = (time: number) => {
    const [id, task] = [createIds(Math.random)("job", time), createIds(Math.random)("task", time)];
    const head = { id, object: "job", input: "https://example.com/a.mp4", metadata: {}, created_at: time };
    return { head, tasks: [{ id: task }] } as never as Parameters<typeof archive.write>[0];
  };
  const [gone, left] = [jobAt(1e12), jobAt(1e12)];
  const has = async (job: typeof gone) => (await lines()).some((line) => line.includes(job.head.id));
  await archive.write(gone, () => false);
  await archive.write(left, () => true);
  expect([await has(gone), await has(left)]).toEqual([false, true]);
  // The task was deleted on its own, or by a call that was interrupted.
  expect((await rig.call(`/jobs/${left.head.id}`, { method: "DELETE" })).status).toBe(404);
  expect(await has(left)).toBe(false);
});

test("a task that was archived before it was freed is deleted in both places", async () => {
  const input = origin.serve("/none.png", { status: 404 });
  const { id } = (await rig.call("/tasks", { method: "POST", body: { input, kind: "image" } })).json as Task;
  const task = await rig.finished(id);
  // A pass that ended between the two leaves this.
  await archiveOf("alpha").write("task", [{ id, json: JSON.stringify(task) }], "");
  await rig.until(
    async () => Date.now(),
    (now) => now > task.created_at + 1000,
  );
  expect((await rig.call(`/tasks/${id}`, { method: "DELETE" })).status).toBe(204);
  expect((await lines()).some((line) => line.includes(id))).toBe(false);
  await env.KV.delete(`task:${id}`);
  expect((await rig.call(`/tasks/${id}`)).status).toBe(404);
});

test("records removed from one file at the same time stay removed, and its others stay", async () => {
  const archive = archiveOf("gamma");
  const records = recordsAt(1e12, 12);
  await archive.write("task", records, "");
  const [remaining, ...removed] = records.map(({ id }) => id);
  expect(await Promise.all(removed.map((id) => archive.remove("task", id)))).toEqual(removed.map(() => true));
  expect(await lines("gamma")).toEqual([`{"id":"${remaining}"}`]);
  expect(await archive.get("task", removed[0] ?? "")).toBeNull();
  expect(await archive.remove("task", remaining ?? "")).toBe(true);
  expect(await lines("gamma")).toEqual([]);
});

test("a record that is archived again, alone or with what is left of its batch, takes no other from its file", async () => {
  const archive = archiveOf("eta");
  const records = recordsAt(1e12, 4);
  const [first, , third, last] = records;
  if (!first || !third || !last) throw new Error("There are no records.");
  await archive.write("task", records, "");
  await archive.write("task", [last], last.id);
  await archive.write("task", [third, last], "");
  expect(await lines("eta")).toEqual(records.map(({ json }) => json));
  expect(await archive.get("task", first.id)).toBe(first.json);
});

test("a record that was archived twice is removed from both files, and a late one is found behind many", async () => {
  const archive = archiveOf("delta");
  const records = recordsAt(1e12, 24);
  const [late, ...others] = records;
  const [last] = records.slice(-1);
  if (!late || !last) throw new Error("There are no records.");
  for (const record of others) await archive.write("task", [record], "");
  await archive.write("task", [late, ...recordsAt(2e12, 1)], last.id);
  expect(await archive.get("task", late.id)).toBe(late.json);
  const twice = others.slice(0, 2);
  await archive.write("task", twice, "");
  expect(await archive.remove("task", others[0]?.id ?? "")).toBe(true);
  expect(await archive.get("task", others[0]?.id ?? "")).toBeNull();
  expect(await archive.get("task", others[1]?.id ?? "")).toBe(others[1]?.json);
});

test("a record that cannot be freed delays no other, and is tried again in the next pass", async () => {
  const database = new DatabaseSync(":memory:");
  const exec = (text: string, ...values: SQLInputValue[]) =>
    values.length > 0 || text.startsWith("SELECT")
      ? database.prepare(text).all(...values)
      : database.exec(text);
  const runs = createRunIndex({ exec } as unknown as Sql);
  const [first, second, third] = recordsAt(1e12, 3).map(({ id }) => id);
  for (const id of [first, second, third]) runs.put({ ...QUEUED, id, status: "failed" } as Task, 1);
  const retired: string[] = [];
  const values = new Map<string, string>();
  const retirement = createRetirement({
    project: "epsilon",
    runs,
    bucket: bucket(),
    isLarge: () => false,
    webhooks: { removeOf() {}, detach() {} },
    kv: { get: (name) => values.get(name), put: (name, id) => values.set(name, id) },
    objects: {
      getByName: (id) => ({
        async retire() {
          retired.push(id);
          if (id === first) throw new Error("The object is away.");
          return true;
        },
      }),
    },
  });
  const listed = () => [first, second, third].filter((id) => runs.get(id ?? "") !== null);
  expect(await retirement.retire(2e12)).toBe(true);
  expect([retired, listed()]).toEqual([[first, second, third], [first]]);
  // The pass continues behind it, and ends.
  expect(await retirement.retire(2e12)).toBe(false);
  expect(await retirement.retire(2e12)).toBe(true);
  expect([retired, listed()]).toEqual([[first, second, third, first], [first]]);
  expect(await archiveOf("epsilon").get("task", third ?? "")).toContain(third);
});

function archiveOf(project: string) {
  return createArchive(bucket(), project);
}

function bucket(): R2Bucket {
  return env.MEDIA as unknown as R2Bucket;
}

function recordsAt(time: number, count: number) {
  const ids = createIds(Math.random);
  return Array.from({ length: count }, () => {
    const id = ids("task", time);
    return { id, json: `{"id":"${id}"}` };
  });
}
