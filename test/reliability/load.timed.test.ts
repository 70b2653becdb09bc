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

async function list(status: string): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let page: Task[] | null = null; page === null || page.length === 100; ) {
    const after = tasks.at(-1)?.id;
    const path = `/tasks?limit=100&status=${status}${after ? `&after=${after}` : ""}`;
    page = (await lab.door.request<Task[]>("GET", path)).body;
    tasks.push(...page);
  }
  return tasks;
}

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

test("200 concurrent tasks all end as expected", async () => {
  const [png, wav] = await Promise.all([clip("png"), clip("wav")]);
  const png_url = origin.serve("/a.png", { file: png });
  const wav_url = origin.serve("/a.wav", { file: wav });
  const requests = [
    { body: { input: png_url, kind: "image", options: { format: "jpeg", width: 32 } }, error: null },
    { body: { input: wav_url, kind: "audio", options: { format: "flac" } }, error: null },
    { body: { input: png_url, kind: "image", options: { format: "webp" } }, error: null },
    { body: { input: `${origin.url}/none.png`, kind: "image" }, error: "input_not_found" },
  ] as const;
  const created = await Promise.all(
    Array.from({ length: 200 }, (_, index) => {
      return lab.door.request<Task>("POST", "/tasks", requests[index % 4]?.body);
    }),
  );
  expect(created.map(({ status }) => status)).toEqual(Array(200).fill(201));
  const ids = created.map(({ body }) => body.id);
  await vi.waitFor(
    async () => {
      expect(await list("queued")).toEqual([]);
      expect(await list("processing")).toEqual([]);
    },
    { timeout: 170_000, interval: 1000 },
  );

  const results = new Map(
    [...(await list("succeeded")), ...(await list("failed"))].map((task) => [task.id, task]),
  );
  const errors = ids.map((id) => results.get(id)?.error?.kind ?? results.get(id)?.status);
  expect(errors).toEqual(ids.map((_, index) => requests[index % 4]?.error ?? "succeeded"));
  // Each has its own output, and nothing else is left.
  const outputs = ids.flatMap((id) => results.get(id)?.output ?? []);
  expect(new Set(outputs).size).toBe(150);
  const sizes = await Promise.all(outputs.map(async (url) => (await (await fetch(url)).bytes()).length));
  expect(Math.min(...sizes)).toBeGreaterThan(100);
  await vi.waitFor(() => {
    const keys = lab
      .stored()
      .map(({ key }) => key)
      .filter((key) => ids.some((id) => key.includes(id)));
    expect(keys.filter((key) => key.startsWith("work/"))).toEqual([]);
    expect(keys).toHaveLength(150);
  }, 60_000);
}, 300_000);
