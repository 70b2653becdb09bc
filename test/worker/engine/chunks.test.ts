import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createRemoteClient } from "../../../src/client/remote/remote.ts";
import type { Task } from "../../../src/core/task.ts";
import { type Service, startService } from "../../../worker/local/service.ts";
import { parseSettings } from "../../../worker/local/settings.ts";
import { makeClip } from "../../fixtures/make-clip.ts";
import { NO_LIMITS } from "../../fixtures/no-limits.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { readFacts } from "../../judge/facts.ts";
import { type FrontDoor, openFrontDoor } from "../../judge/front-door.ts";
import { type HeldNative, startHeldNative } from "./held-native.ts";

const LIMIT = 3;
const SECONDS = 1200;

let folder: string;
let env: Record<string, string>;
let native: HeldNative;
let service: Service;
let door: FrontDoor;
let origin: Origin;
let input: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-chunks-"));
  [native, origin] = await Promise.all([startHeldNative(), startOrigin()]);
  env = {
    ...{ API_KEYS: "k", STATE_DIR: folder, WATCH_SECONDS: "2", MAX_CHUNKS_IN_FLIGHT: String(LIMIT) },
    ...NO_LIMITS,
    ...{ NATIVE_ENCODER_URL: native.urls, NATIVE_ENCODER_TOKEN: "t" },
  };
  service = await startService(parseSettings({ ...env, PORT: "0" }));
  door = openFrontDoor(service.url, "k");
  // Large and long, so that it is cut, and as good as empty, so that it is made fast.
  const pictures = `color=black:size=1920x1080:rate=1:duration=${SECONDS}`;
  const file = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", pictures, ..."-c:v libx264 -preset ultrafast -g 5 -pix_fmt yuv420p".split(" ")],
  ]);
  input = origin.serve("/long.mp4", { file });
}, 180_000);
afterAll(async () => {
  await Promise.all([service?.stop(), native?.close(), origin?.close(), door?.close()]);
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  for (const list of [native.started, native.asked, native.ended]) list.length = 0;
});

const POLL = { timeout: 60_000, interval: 20 };

async function create(): Promise<Task> {
  const { body } = await door.request<Task>("POST", "/tasks", {
    input,
    kind: "video",
    options: { codec: "h265" },
  });
  return body;
}

async function get(id: string): Promise<Task> {
  return (await door.request<Task>("GET", `/tasks/${id}`)).body;
}

/** Gives the encoder of a task and its reason, as its events tell first. */
async function tellChoice(id: string) {
  const client = createRemoteClient({ baseUrl: service.url, apiKey: "k" });
  const { value } = await client.watch(id).next();
  await client.close();
  return value?.choice;
}

/** Lets every chunk go until the task has ended, and gives it. */
async function finishAll(id: string): Promise<Task> {
  const go = async () => {
    await Promise.all(native.running().map((chunk) => native.finish(chunk)));
    return (await get(id)).finished_at;
  };
  await expect.poll(go, POLL).not.toBeNull();
  return get(id);
}

test("chunks are encoded at once up to the limit, each taking the place of one that is done", {
  timeout: 180_000,
}, async () => {
  const { id } = await create();
  await expect.poll(() => native.running(), POLL).toEqual([0, 1, 2]);
  await native.finish(1);
  await expect.poll(() => native.running(), POLL).toEqual([0, 2, 3]);
  const task = await finishAll(id);
  expect([task.status, task.error]).toEqual(["succeeded", null]);
  expect(native.most()).toBe(LIMIT);
  expect(native.started.length).toBeGreaterThan(LIMIT + 1);
  expect(native.started.toSorted((one, other) => one - other)).toEqual(
    native.started.map((_, index) => index),
  );
  // Those that are begun at once may come in any order, but none before its turn.
  expect(native.started.filter((chunk, place) => chunk - place >= LIMIT)).toEqual([]);
  expect(task.steps[2]?.output).toMatchObject({ encoder: "native", reason: expect.any(String) });
  const { path } = await door.fetchFile(task.output ?? "");
  expect((await readFacts(path)).picture?.times).toHaveLength(SECONDS);
});

test("after a crash of the service the chunks that are done are not asked for again", {
  timeout: 180_000,
}, async () => {
  const { id } = await create();
  await expect.poll(() => native.running(), POLL).toEqual([0, 1, 2]);
  await Promise.all([native.finish(0), native.finish(2)]);
  // Others take their places only when these are remembered.
  await expect.poll(() => native.running(), POLL).toEqual([1, 3, 4]);
  const choice = await tellChoice(id);
  const { port } = new URL(service.url);
  await service.kill("SIGKILL");
  native.asked.length = 0;
  service = await startService(parseSettings({ ...env, PORT: port }));
  expect(await tellChoice(id)).toEqual(choice);
  // Work that went on meanwhile is found again.
  await expect.poll(() => native.asked.toSorted(), POLL).toEqual([1, 3, 4]);
  const task = await finishAll(id);
  expect([task.status, task.error]).toEqual(["succeeded", null]);
  const { encoder, reason, refusals } = task.steps[2]?.output ?? {};
  expect(choice).toEqual({ encoder, reason, refusals });
  expect(native.asked).not.toContain(0);
  expect(native.asked).not.toContain(2);
  expect(new Set(native.started).size).toBe(native.started.length);
  const { path } = await door.fetchFile(task.output ?? "");
  expect((await readFacts(path)).picture?.times).toHaveLength(SECONDS);
});

test("cancel calls all chunks off at once", { timeout: 120_000 }, async () => {
  const { id } = await create();
  await expect.poll(() => native.running(), POLL).toEqual([0, 1, 2]);
  // One that has begun after another was done is heard of all the same.
  await native.finish(0);
  await expect.poll(() => native.running(), POLL).toEqual([1, 2, 3]);
  expect((await door.request<Task>("POST", `/tasks/${id}/cancel`)).body.status).toBe("cancelled");
  // Sooner than anything would end by itself.
  await expect.poll(() => native.running(), { timeout: 10_000, interval: 10 }).toEqual([]);
  expect(native.ended.toSorted()).toEqual([1, 2, 3]);
});
