import { afterAll, beforeAll, expect, test } from "vitest";
import type { Step } from "../../../src/core/step.ts";
import type { Task } from "../../../src/core/task.ts";
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

const lines = async () => {
  const { objects } = await env.MEDIA.list({ prefix: "archive/" });
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
  const made = [
    await post<Task>("/tasks", image),
    await post<Task>("/tasks", { ...image, metadata: { name: "other" } }),
  ];
  const step = await post<Step>("/steps", { kind: "probe", input: { object: "external_file", url: input } });
  const [one, other] = await Promise.all(made.map(({ id }) => rig.finished(id)));
  const probed = await rig.finishedStep(step.id);
  expect([one?.status, other?.status, probed.status]).toEqual(["succeeded", "succeeded", "succeeded"]);

  await rig.until(
    async () => [...(await list("/tasks")), ...(await list("/steps"))],
    (records) => records.length === 0,
  );
  // From the archive alone.
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
