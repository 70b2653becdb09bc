import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { ROOT } from "../../structure/source-files.ts";
import { createRig } from "../engine/rig.ts";

let folder: string;
let rig: ReturnType<typeof createRig>;
let origin: Origin;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-index-"));
  // The service as deployed, except for its entry file.
  const config = (await readFile(join(ROOT, "wrangler.toml"), "utf8"))
    .replace('"worker/index.ts"', JSON.stringify(join(import.meta.dirname, "slow-index", "worker.js")))
    .replaceAll('"./', `"${ROOT}/`);
  const configPath = join(folder, "wrangler.toml");
  await writeFile(configPath, config);
  rig = createRig({}, undefined, configPath);
  [origin] = await Promise.all([startOrigin(), rig.server.listen()]);
});
afterAll(async () => {
  await Promise.all([origin?.close(), rig?.server.close()]);
  await rm(folder, { recursive: true, force: true });
});

const index = async (what: "hang" | "answer" | "evict" | "puts"): Promise<Record<string, number>> =>
  (await rig.call(`/index/${what}`, { method: "PUT" })).json;
const get = async (id: string): Promise<Task> => (await rig.call(`/tasks/${id}`)).json;
const listed = async (id: string): Promise<Task | undefined> =>
  (await rig.call("/tasks?limit=100")).json.find((task: Task) => task.id === id);
const create = (input: string) => rig.call("/tasks", { method: "POST", body: { input, kind: "audio" } });

test("while the index hangs, changes wait four seconds for it, reads not at all, and no task is created", async () => {
  const { json: task } = await create(origin.serve("/silent.wav", { silent: true }));
  await rig.until(
    () => listed(task.id),
    (record) => record?.status === "processing",
  );
  await index("hang");
  const cancelled = rig.call(`/tasks/${task.id}/cancel`, { method: "POST" });
  const [begun, early] = [Date.now(), create(origin.serve("/never.wav", { silent: true }))];
  await rig.until(
    () => get(task.id),
    ({ status }) => status === "cancelled",
  );
  expect([(await cancelled).status, (await cancelled).json.status]).toEqual([200, "cancelled"]);
  expect(Date.now() - begun).toBeGreaterThan(3900);
  const refused = await early;
  expect([refused.status, refused.json.kind]).toEqual([503, "service_unavailable"]);
  expect(await listed(task.id)).toMatchObject({ status: "processing" });
  await index("answer");
  await rig.until(
    () => listed(task.id),
    (record) => record?.status === "cancelled",
  );
  // The refused one left nothing.
  const records: Task[] = await rig.until(
    async () => (await rig.call("/tasks?limit=100")).json,
    (tasks: Task[]) => tasks.length === 1,
  );
  expect(records.map(({ id }) => id)).toEqual([task.id]);
});

test("KV is written when the status changes and at no progress, even after its object was evicted", async () => {
  // An input that has no ETag is copied, and reports progress every 4 MiB: every two seconds here.
  const file = await clip("mp4", { size: "640x360", seconds: 60 });
  const { json: task } = await create(
    origin.serve("/slow.mp4", { file, etag: null, bytes_per_second: 2_000_000 }),
  );
  const { KV } = await rig.worker().getEnv();
  const status = async () => {
    const mirror = (await KV.get(`task:${task.id}`, "json")) as { record: Task } | null;
    return mirror?.record.status;
  };
  const progressed = (from: number): Promise<number> =>
    rig.until(
      async () => (await listed(task.id))?.steps[1]?.progress ?? 0,
      (progress) => progress > from,
    );
  await rig.until(status, (current) => current === "processing");
  const before = (await index("puts"))[`task:${task.id}`] ?? 0;
  expect([1, 2]).toContain(before);
  const shown = await progressed(0);
  await index("evict");
  await progressed(shown);
  await rig.call(`/tasks/${task.id}/cancel`, { method: "POST" });
  await rig.until(status, (current) => current === "cancelled" || current === "succeeded");
  expect((await index("puts"))[`task:${task.id}`]).toBe(before + 1);
});
