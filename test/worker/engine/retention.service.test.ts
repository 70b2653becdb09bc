import { afterAll, beforeAll, expect, test } from "vitest";
import { createIds } from "../../../src/runs/ids.ts";
import type { Task } from "../../../src/runs/task.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { type Bindings, createRig } from "./rig.ts";

const TTL_SECONDS = 12;
// With this limit every project is too large.
const rig = createRig({ MEDIA_TTL: String(TTL_SECONDS), LISTED_BYTES: "1" });
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

test("keeps an output as long as its URL is valid, then deletes it and keeps the record", async () => {
  const input = origin.serve("/sound.wav", { file: await clip("wav") });
  const body = { input, kind: "audio", options: { format: "mp3" } };
  const { id } = (await rig.call("/tasks", { method: "POST", body })).json as Task;
  const task = await rig.finished(id);
  expect(task.error).toBeNull();
  const keys = async () => (await env.MEDIA.list({ prefix: `out/${id}/` })).objects.length;
  const gone = await rig.until(
    async () => ({ count: await keys(), at: Date.now() }),
    ({ count }) => count === 0,
  );
  expect(gone.at).toBeGreaterThanOrEqual((Math.floor(task.created_at / 1000) + TTL_SECONDS) * 1000);
  expect((await rig.call(`/tasks/${id}`)).json).toEqual(task);
  expect((await fetch(task.output ?? "")).status).toBe(403);
});

/** Deletes a task that was just cancelled, then writes into its folders like work that did not stop in time. */
async function leaveLate(): Promise<{ gone(): Promise<boolean> }> {
  const body = { input: origin.serve("/silent.wav", { silent: true }), kind: "audio" };
  const { id } = (await rig.call("/tasks", { method: "POST", body })).json as Task;
  await rig.call(`/tasks/${id}/cancel`, { method: "POST" });
  expect((await rig.call(`/tasks/${id}`, { method: "DELETE" })).status).toBe(204);
  for (const folder of ["work", "out"]) await env.MEDIA.put(`${folder}/${id}/late`, "late");
  const { exec } = await rig.worker().getDurableObjectStorage("TASK", { name: id });
  return {
    async gone() {
      const names = ["work", "out"].map((folder) => env.MEDIA.list({ prefix: `${folder}/${id}/` }));
      const files = (await Promise.all(names)).flatMap(({ objects }) => objects);
      const tables = await exec("SELECT name FROM sqlite_master WHERE name = 'run'");
      return files.length + tables.length === 0;
    },
  };
}

test("the oldest tasks of a large project move to the archive before their time, batch by batch", async () => {
  const late = await leaveLate();
  const input = origin.serve("/none.wav", { status: 404 });
  const body = { input, kind: "audio" };
  const { id } = (await rig.call("/tasks", { method: "POST", body })).json as Task;
  const task = await rig.finished(id);
  const { exec } = await rig.worker().getDurableObjectStorage("PROJECT", { name: "alpha" });
  const ids = createIds(Math.random);
  const old = Array.from({ length: 450 }, () => ({ ...task, id: ids("task", task.created_at - 86_400_000) }));
  const rows = "SELECT value ->> 'id', 'task', 'audio', 'failed', 9, value FROM json_each(?)";
  await exec(`INSERT INTO run (id, object, kind, status, version, record) ${rows}`, JSON.stringify(old));
  await rig.until(
    async () => (await rig.call("/tasks")).json as Task[],
    // The clearing of its files is not over yet.
    (tasks) => tasks.every((each) => each.id === id),
    150_000,
  );
  // Late files of a deleted task are cleared as well, until nothing is left.
  await rig.until(late.gone, (gone) => gone, 150_000);
  for (const each of [0, 200, 449].map((index) => old[index]))
    expect((await rig.call(`/tasks/${each?.id}`)).json).toEqual(each);
  const events = (await rig.call("/events?limit=100")).json as { data: Task }[];
  expect(new Set(events.map(({ data }) => data.id))).toEqual(new Set([id]));
});
