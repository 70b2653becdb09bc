import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { clip } from "../../fixtures/clips.ts";
import { NO_LIMITS } from "../../fixtures/no-limits.ts";
import { type Rig, startRig } from "../../judge/rig.ts";

// One project floods the service with work for the native encoder, of which there is one.
const FLOOD = 20;
const MANY = "key-of-many";
const FEW = "key-of-few";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(() => ({
    ...NO_LIMITS,
    MAX_RUNNING: "5",
    MAX_RUNNING_TOTAL: "6",
    MAX_HEAVY_TOTAL: "2",
    API_KEYS: `many:${MANY},few:${FEW}`,
  }));
});
afterAll(() => rig?.close());

async function call<T>(key: string, path: string, body?: object): Promise<T> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const init = body && { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(rig.url + path, { headers, ...init });
  expect(response.ok).toBe(true);
  return response.json();
}

const statuses = async (key: string) => {
  const tasks = await call<Task[]>(key, "/tasks?limit=100");
  const count = (status: string) => tasks.filter((task) => task.status === status).length;
  return { queued: count("queued"), processing: count("processing"), succeeded: count("succeeded") };
};

const end = (key: string, id: string) =>
  vi.waitUntil(
    async () => {
      const task = await call<Task>(key, `/tasks/${id}`);
      return task.status === "queued" || task.status === "processing" ? null : task;
    },
    { timeout: 60_000, interval: 50 },
  );

test("a flood of heavy work holds up neither light work nor another project's heavy work", async () => {
  const film = rig.serve(await clip("mp4", { size: "640x360", seconds: 8 }));
  const picture = rig.serve(await clip("png"));
  const heavy = { input: film, kind: "video", options: { codec: "h265", quality: "very_high" } };
  const flood = await Promise.all(Array.from({ length: FLOOD }, () => call<Task>(MANY, "/tasks", heavy)));
  // Runs that wait for the encoder take no slot for light work, so more have begun than may run at once.
  await vi.waitUntil(async () => (await statuses(MANY)).processing > 7, { timeout: 60_000, interval: 50 });

  const image = { input: picture, kind: "image", options: { width: 20 } };
  for (let index = 0; index < 3; index++) {
    const { id } = await call<Task>(FEW, "/tasks", image);
    expect(await end(FEW, id)).toMatchObject({ status: "succeeded" });
  }
  const { id } = await call<Task>(FEW, "/tasks", { ...heavy, options: { ...heavy.options, end: 1 } });
  expect(await end(FEW, id)).toMatchObject({ status: "succeeded" });
  const { succeeded, queued, processing } = await statuses(MANY);
  expect(succeeded + queued + processing).toBe(FLOOD);
  // The flood has barely begun.
  expect(succeeded).toBeLessThan(FLOOD / 2);
  for (const task of flood) {
    const headers = { Authorization: `Bearer ${MANY}` };
    await fetch(`${rig.url}/tasks/${task.id}/cancel`, { method: "POST", headers });
  }
});
