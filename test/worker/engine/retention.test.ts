import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../../src/core/task.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { type Bindings, createRig } from "./rig.ts";

const TTL_SECONDS = 12;
const rig = createRig({ MEDIA_TTL: String(TTL_SECONDS) });
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
