import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createRemoteClient } from "../../../src/client/remote.ts";
import type { Job } from "../../../src/runs/job.ts";
import type { Task } from "../../../src/runs/task.ts";
import { type Service, startService } from "../../../worker/local/service.ts";
import { parseSettings } from "../../../worker/local/settings.ts";
import { clip } from "../../fixtures/clips.ts";
import { makeClip } from "../../fixtures/make-clip.ts";
import { NO_LIMITS } from "../../fixtures/no-limits.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { readFacts } from "../../judge/facts.ts";
import { type FrontDoor, openFrontDoor } from "../../judge/front-door.ts";
import { type ManualNative, startManualNative } from "./manual-native.ts";

const LIMIT = 3;
const SECONDS = 1200;

let folder: string;
let env: Record<string, string>;
let native: ManualNative;
let service: Service;
let door: FrontDoor;
let origin: Origin;
let input: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-chunks-"));
  [native, origin] = await Promise.all([startManualNative(), startOrigin()]);
  env = {
    API_KEYS: "k",
    STATE_DIR: folder,
    WATCH_SECONDS: "2",
    MAX_CHUNKS_IN_FLIGHT: String(LIMIT),
    ...NO_LIMITS,
    NATIVE_ENCODER_URL: native.urls,
    NATIVE_ENCODER_TOKEN: "t",
  };
  service = await startService(parseSettings({ ...env, PORT: "0" }));
  door = openFrontDoor(service.url, "k");
  // Large and long enough to be split into chunks, and so simple that it is encoded quickly.
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
  for (const list of [native.started, native.requested, native.cancelled]) list.length = 0;
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

/** Returns the encoder of a task and its reason from the first event. */
async function readChoice(id: string) {
  const client = createRemoteClient({ baseUrl: service.url, apiKey: "k" });
  const { value } = await client.watch(id).next();
  await client.close();
  return value?.choice;
}

/** Finishes every chunk until the task has ended, and returns the task. */
async function finishAll(id: string): Promise<Task> {
  const go = async () => {
    await Promise.all(native.running().map((chunk) => native.finish(chunk)));
    return (await get(id)).finished_at;
  };
  await expect.poll(go, POLL).not.toBeNull();
  return get(id);
}

test("encodes chunks in parallel up to the limit, starting one for each that is done", {
  timeout: 180_000,
}, async () => {
  const { id } = await create();
  await expect.poll(() => native.running(), POLL).toEqual([0, 1, 2]);
  await native.finish(1);
  await expect.poll(() => native.running(), POLL).toEqual([0, 2, 3]);
  const task = await finishAll(id);
  expect([task.status, task.error]).toEqual(["succeeded", null]);
  expect(native.maxRunning()).toBe(LIMIT);
  expect(native.started.length).toBeGreaterThan(LIMIT + 1);
  expect(native.started.toSorted((one, other) => one - other)).toEqual(
    native.started.map((_, index) => index),
  );
  // Chunks started together may arrive in any order, but none too early.
  expect(native.started.filter((chunk, place) => chunk - place >= LIMIT)).toEqual([]);
  expect(task.steps[2]?.output).toMatchObject({ encoder: "native", reason: expect.any(String) });
  const { path } = await door.fetchFile(task.output ?? "");
  expect((await readFacts(path)).picture?.times).toHaveLength(SECONDS);
});

test("after a crash the service does not request finished chunks again", {
  timeout: 180_000,
}, async () => {
  const { id } = await create();
  await expect.poll(() => native.running(), POLL).toEqual([0, 1, 2]);
  await Promise.all([native.finish(0), native.finish(2)]);
  // The next chunks start only once these are recorded.
  await expect.poll(() => native.running(), POLL).toEqual([1, 3, 4]);
  const choice = await readChoice(id);
  const { port } = new URL(service.url);
  await service.kill("SIGKILL");
  native.requested.length = 0;
  service = await startService(parseSettings({ ...env, PORT: port }));
  expect(await readChoice(id)).toEqual(choice);
  // Work that continued meanwhile is found again.
  await expect.poll(() => native.requested.toSorted(), POLL).toEqual([1, 3, 4]);
  const task = await finishAll(id);
  expect([task.status, task.error]).toEqual(["succeeded", null]);
  const { encoder, reason, refusals } = task.steps[2]?.output ?? {};
  expect(choice).toEqual({ encoder, reason, refusals });
  expect(native.requested).not.toContain(0);
  expect(native.requested).not.toContain(2);
  expect(new Set(native.started).size).toBe(native.started.length);
  const { path } = await door.fetchFile(task.output ?? "");
  expect((await readFacts(path)).picture?.times).toHaveLength(SECONDS);
});

test("cancelling a task cancels all its chunks at once", { timeout: 120_000 }, async () => {
  const { id } = await create();
  await expect.poll(() => native.running(), POLL).toEqual([0, 1, 2]);
  // One that started after another had finished is cancelled too.
  await native.finish(0);
  await expect.poll(() => native.running(), POLL).toEqual([1, 2, 3]);
  expect((await door.request<Task>("POST", `/tasks/${id}/cancel`)).body.status).toBe("cancelled");
  // Before any would end by itself.
  await expect.poll(() => native.running(), { timeout: 10_000, interval: 10 }).toEqual([]);
  expect(native.cancelled.toSorted()).toEqual([1, 2, 3]);
});

test("outputs of a job that decode the same are sent as one group", async () => {
  const file = await clip("mp4");
  const [large, small, later] = [{ width: 120 }, { width: 80 }, { width: 80, start: 0.5 }];
  const outputs = [large, small, later].map((options) => ({
    kind: "video",
    options: { ...options, codec: "h265" },
  }));
  const { body: job } = await door.request<Job>("POST", "/jobs", {
    input: origin.serve("/short.mp4", { file }),
    outputs,
  });
  const sent = () => job.tasks.flatMap(({ id }) => native.jobs().filter((each) => each.id.startsWith(id)));
  await vi.waitUntil(() => sent().length === 3, POLL);
  const groups = sent().map(({ together }) => together);
  expect(groups).toEqual([{ id: job.id, size: 2 }, { id: job.id, size: 2 }, undefined]);
  await door.request("POST", `/jobs/${job.id}/cancel`);
  await vi.waitUntil(() => sent().length === 0, POLL);
});
