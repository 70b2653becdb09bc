import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import type { Answer } from "../fixtures/origin.ts";
import { type HeavyRig, startHeavyRig, until } from "./heavy-rig.ts";

let rig: HeavyRig;
beforeAll(async () => {
  rig = await startHeavyRig(2);
}, 180_000);
afterAll(() => rig?.close());

/** Milliseconds after a cancel within which every ffmpeg and its files must be gone. */
const GONE_MS = 2000;
/** Time for stored objects: a write that began before may land after the first clearing; the second is 11 s later. */
const CLEARED_MS = 15_000;
const HEAVY = { kind: "video", options: { codec: "h265" } } as const;
// 10.9 MiB that take several seconds, because ffmpeg reports progress once per second.
const LONG = { size: "640x360", seconds: 40 } as const;

let number = 0;
async function start(answer: Answer = {}, body: object = HEAVY): Promise<Task> {
  const file = await clip("mp4_faststart", LONG);
  return rig.create({ input: rig.origin.serve(`/${number++}.mp4`, { file, ...answer }), ...body });
}

async function stepOf(task: Task, place: number) {
  const { error, steps } = await rig.get(task.id);
  if (error) throw new Error(JSON.stringify(error));
  return steps[place];
}

// Never serves the last part of the source: however fast the machine, the encode gets far and does not end.
async function startEndless(): Promise<Task> {
  const task = await start();
  rig.gate.rule(task.id, ({ range }) => {
    return Number(/=(\d+)-/.exec(range ?? "")?.[1]) >= 9 * 2 ** 20 ? "hang" : "pass";
  });
  return task;
}

const at = (task: Task, place: number) =>
  until(async () => (await stepOf(task, place))?.status === "processing");
// Waits until some output is written.
const writes = () => until(async () => (await rig.left()).some((path) => path.includes("/out/")));

async function expectCancelled(task: Task, place: number): Promise<void> {
  const cancelled = await rig.door.request<Task>("POST", `/tasks/${task.id}/cancel`);
  const cancelTime = performance.now();
  expect(cancelled).toMatchObject({ status: 200, body: { status: "cancelled", error: null } });
  const statuses = cancelled.body.steps.map(({ status }) => status);
  expect(statuses).toEqual(Array(4).fill("succeeded").fill("cancelled", place));
  const isClear = async () => {
    const leftovers = [rig.ffmpegs(), await rig.left()];
    return leftovers.every((list) => list.length === 0) || performance.now() - cancelTime > GONE_MS;
  };
  await until(isClear);
  expect([rig.ffmpegs(), await rig.left()]).toEqual([[], []]);
  await until(() => rig.stored(task.id).length === 0 || performance.now() - cancelTime > CLEARED_MS);
  expect(rig.stored(task.id)).toEqual([]);
  // Nothing may have been on its way a moment later.
  const log = rig.gate.log.length;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(rig.gate.log.length).toBe(log);
  expect([rig.ffmpegs(), rig.stored(task.id)]).toEqual([[], []]);
  expect(await rig.get(task.id)).toEqual(cancelled.body);
}

test("cancels a task at once", async () => {
  const task = await start({ silent: true });
  await expectCancelled(task, 0);
});

test("cancels a task while it is probed", async () => {
  const task = await start({ silent: true });
  await at(task, 0);
  await expectCancelled(task, 0);
});

test("cancels a task while its source is copied", async () => {
  // One with an ETag would be read where it is.
  const task = await start({ bytes_per_second: 300_000, etag: null });
  await at(task, 1);
  await expectCancelled(task, 1);
});

test("cancels a task that was just handed to an encoder", async () => {
  const task = await start();
  await until(() => rig.ffmpegs().length > 0);
  await expectCancelled(task, 2);
});

test("cancels a task mid-encode", async () => {
  const task = await startEndless();
  await writes();
  await expectCancelled(task, 2);
});

test("cancels a task late in its encode", async () => {
  const task = await startEndless();
  await until(async () => ((await stepOf(task, 2))?.progress ?? 0) >= 60);
  await expectCancelled(task, 2);
});

test("cancels a task while its output is stored", async () => {
  const task = await start({ file: await clip("mp4_faststart", { seconds: 1 }) });
  let put = false;
  rig.gate.rule(task.id, ({ method }) => {
    put ||= method === "PUT";
    return method === "PUT" ? "hang" : "pass";
  });
  await until(() => put);
  await expectCancelled(task, 2);
});

test("cancels a task that waits for an encoder without disturbing the running ones", async () => {
  const working = [await startEndless(), await startEndless()];
  await until(() => rig.ffmpegs().length === 2);
  const waiting = await start();
  await at(waiting, 2);
  const answer = await rig.door.request<Task>("POST", `/tasks/${waiting.id}/cancel`);
  expect(answer.body.status).toBe("cancelled");
  await until(() => rig.stored(waiting.id).length === 0, CLEARED_MS);
  expect(rig.ffmpegs()).toHaveLength(2);
  for (const task of working) {
    const { body } = await rig.door.request<Task>("POST", `/tasks/${task.id}/cancel`);
    expect(body.status).toBe("cancelled");
  }
  await until(async () => rig.ffmpegs().length === 0 && (await rig.left()).length === 0, GONE_MS);
});

test("cancels a task with several chunks in flight", async () => {
  const file = await clip("mp4_faststart", { seconds: 60 });
  const options = { codec: "av1", width: 640, height: 360, fps: 60 };
  const task = await start({ file }, { kind: "video", options });
  await until(() => rig.ffmpegs().length === 2);
  await expectCancelled(task, 2);
});

test("a task succeeds after all the cancels", async () => {
  const file = await clip("mp4_faststart", { seconds: 1 });
  expect((await rig.finish((await start({ file })).id)).status).toBe("succeeded");
});
