import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { storedMedia } from "../fixtures/stored-media.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

async function list(status: string): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let page: Task[] | null = null; page === null || page.length === 100; ) {
    const after = tasks.at(-1)?.id;
    const path = `/tasks?limit=100&status=${status}${after ? `&after=${after}` : ""}`;
    page = (await rig.door.request<Task[]>("GET", path)).body;
    tasks.push(...page);
  }
  return tasks;
}

test("200 concurrent tasks all end as expected", async () => {
  const [png, wav] = await Promise.all([clip("png"), clip("wav")]);
  const png_url = rig.serve(png);
  const wav_url = rig.serve(wav);
  const requests = [
    { body: { input: png_url, kind: "image", options: { format: "jpeg", width: 32 } }, error: null },
    { body: { input: wav_url, kind: "audio", options: { format: "flac" } }, error: null },
    { body: { input: png_url, kind: "image", options: { format: "webp" } }, error: null },
    { body: { input: `${rig.origin.url}/none.png`, kind: "image" }, error: "input_not_found" },
  ] as const;
  const created = await Promise.all(
    Array.from({ length: 200 }, (_, index) => {
      return rig.door.request<Task>("POST", "/tasks", requests[index % 4]?.body);
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
  // Each task has its own output, and storage holds nothing else.
  const outputs = ids.flatMap((id) => results.get(id)?.output ?? []);
  expect(new Set(outputs).size).toBe(150);
  const sizes = await Promise.all(outputs.map(async (url) => (await (await fetch(url)).bytes()).length));
  expect(Math.min(...sizes)).toBeGreaterThan(100);
  await vi.waitFor(() => {
    const keys = storedMedia(rig.folder)
      .map(({ key }) => key)
      .filter((key) => ids.some((id) => key.includes(id)));
    expect(keys.filter((key) => key.startsWith("work/"))).toEqual([]);
    expect(keys).toHaveLength(150);
  }, 60_000);
}, 300_000);
