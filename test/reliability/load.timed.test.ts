import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { type Lab, startLab } from "./lab.ts";

let lab: Lab;
let origin: Origin;
beforeAll(async () => {
  [lab, origin] = await Promise.all([startLab(), startOrigin()]);
});
afterAll(() => Promise.all([lab.close(), origin.close()]));

async function slowestHealth(until: () => Promise<boolean>): Promise<{ slowest: number; count: number }> {
  let slowest = 0;
  let count = 0;
  do {
    const start = performance.now();
    const response = await fetch(`${lab.url}/health`);
    expect(await response.json()).toMatchObject({ status: "ok" });
    slowest = Math.max(slowest, performance.now() - start);
    count++;
  } while (await until());
  return { slowest, count };
}

test("GET /health answers within 250 ms while an encode runs", async () => {
  const file = await clip("mp4", { size: "320x180", seconds: 12 });
  const input = origin.serve("/long.mp4", { file });
  const { body: task } = await lab.door.request<Task>("POST", "/tasks", {
    input,
    kind: "video",
    options: { format: "webm" },
  });
  const step = async () => (await lab.door.request<Task>("GET", `/tasks/${task.id}`)).body.steps[2];
  await vi.waitUntil(async () => (await step())?.status === "processing", { timeout: 60_000, interval: 20 });
  const { slowest, count } = await slowestHealth(async () => (await step())?.status === "processing");
  expect((await step())?.status).toBe("succeeded");
  expect(count).toBeGreaterThan(50);
  expect(slowest).toBeLessThan(250);
});
