import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../../src/core/task.ts";
import { type Service, startService } from "../../../worker/local/service.ts";
import { parseSettings } from "../../../worker/local/settings.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";

let service: Service;
let origin: Origin;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-cancel-"));
  service = await startService(parseSettings({ PORT: "0", STATE_DIR: folder, API_KEYS: "k" }));
  origin = await startOrigin();
});
afterAll(async () => {
  await origin.close();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

async function call(path: string, body?: unknown): Promise<Task> {
  const headers = { Authorization: "Bearer k", "Content-Type": "application/json" };
  const response = await fetch(service.url + path, {
    method: "POST",
    headers,
    body: JSON.stringify(body ?? {}),
  });
  return response.json() as Promise<Task>;
}

// What a source's server sees is the proof: the connection to it is gone.
test("cancel lets go of the source at once", async () => {
  const file = await clip("h264");
  const input = origin.serve("/slow.mp4", { file, bytes_per_second: 1000, ranges: false });
  const { id } = await call("/tasks", { input, kind: "video" });
  await expect.poll(() => origin.log.some(({ bytes }) => bytes > 0), { timeout: 60_000 }).toBe(true);
  expect((await call(`/tasks/${id}/cancel`)).status).toBe("cancelled");
  // Its bytes would take half a minute and more.
  await expect.poll(() => origin.log.every(({ done }) => done), { timeout: 10_000, interval: 20 }).toBe(true);
});
