import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { type Service, startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { NO_LIMITS } from "../fixtures/no-limits.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { type FrontDoor, openFrontDoor } from "../judge/front-door.ts";
import { type ManualNative, startManualNative } from "../worker/engine/manual-native.ts";
import { watchPace } from "./pace.ts";

// Limit in milliseconds for all work to end after a cancel, on a service whose native encoders hold their
// jobs.
const GONE_MS = 1000;

let folder: string;
let native: ManualNative;
let service: Service;
let door: FrontDoor;
let origin: Origin;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-prompt-"));
  [native, origin] = await Promise.all([startManualNative(), startOrigin()]);
  const encoders = { NATIVE_ENCODER_URL: native.urls, NATIVE_ENCODER_TOKEN: "t", MAX_CHUNKS_IN_FLIGHT: "3" };
  service = await startService(
    parseSettings({
      PORT: "0",
      API_KEYS: "k",
      STATE_DIR: folder,
      WATCH_SECONDS: "2",
      ...NO_LIMITS,
      ...encoders,
    }),
  );
  door = openFrontDoor(service.url, "k");
});
afterAll(async () => {
  await Promise.all([service?.stop(), native?.close(), origin?.close(), door?.close()]);
  await rm(folder, { recursive: true, force: true });
});

/** Cancels a task; returns the milliseconds until the condition holds. */
async function cancelUntil({ id }: Task, ended: () => boolean): Promise<number> {
  const started = performance.now();
  const { body } = await door.request<Task>("POST", `/tasks/${id}/cancel`);
  expect(body.status).toBe("cancelled");
  await expect.poll(ended, { interval: 5 }).toBe(true);
  return performance.now() - started;
}

const create = async (body: object) => (await door.request<Task>("POST", "/tasks", body)).body;

// The source's server is the proof: its connection is closed.
test("a cancel releases the source within a second", async () => {
  const steady = watchPace();
  const file = await clip("h264");
  const input = origin.serve("/slow.mp4", { file, bytes_per_second: 1000, ranges: false });
  const task = await create({ input, kind: "video" });
  await expect.poll(() => origin.log.some(({ bytes }) => bytes > 0), { interval: 20 }).toBe(true);
  const took = await cancelUntil(task, () => origin.log.every(({ done }) => done));
  expect(steady(took)).toBeLessThan(GONE_MS);
});

test("a cancel stops all chunks within a second", async () => {
  const steady = watchPace();
  // Large and long enough to be split into chunks, and so simple that it is encoded quickly.
  const pictures = "-f lavfi -i color=black:size=1920x1080:rate=1:duration=1200";
  const file = await makeClip("mp4", [
    ...`${pictures} -c:v libx264 -preset ultrafast -g 5 -pix_fmt yuv420p`.split(" "),
  ]);
  const task = await create({
    input: origin.serve("/long.mp4", { file }),
    ...{ kind: "video", options: { codec: "h265" } },
  });
  await expect.poll(() => native.running(), { interval: 20 }).toEqual([0, 1, 2]);
  const took = await cancelUntil(task, () => native.running().length === 0);
  expect(steady(took)).toBeLessThan(GONE_MS);
  expect(native.cancelled.toSorted()).toEqual([0, 1, 2]);
});
