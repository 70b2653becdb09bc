import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestHarness } from "wrangler";
import type { Job } from "../../src/runs/job.ts";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { NO_LIMITS } from "../fixtures/no-limits.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { HEAVY_TOKEN, type Native, startNative } from "../inputs/heavy-rig.ts";
import { ROOT } from "../structure/source-files.ts";
import { type Receiver, startReceiver } from "../worker/webhooks/receiver.ts";

const COUNT = 100;
const KEY = "key-of-the-faults";
const TURNS = ["KV", "MEDIA", "TASK", "JOB", "PROJECT", "QUEUE", "RUN", "eviction", "container"] as const;
const TURN_MS = 500;

let folder: string;
let native: Native;
let origin: Origin;
let receiver: Receiver;
let server: ReturnType<typeof createTestHarness>;
let base: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-faults-"));
  [native, origin, receiver] = await Promise.all([startNative({}), startOrigin(), startReceiver()]);
  // The service as deployed, except for its entry file.
  const config = (await readFile(join(ROOT, "wrangler.toml"), "utf8"))
    .replace('"worker/index.ts"', JSON.stringify(join(import.meta.dirname, "faulty", "worker.js")))
    .replaceAll('"./', `"${ROOT}/`);
  const configPath = join(folder, "wrangler.toml");
  await writeFile(configPath, config);
  server = createTestHarness({
    workers: [
      {
        configPath,
        vars: {
          ...{ ALLOW_PRIVATE_NETWORK: "true", NATIVE_INSTANCES: "0", WATCH_SECONDS: "2" },
          ...{ NATIVE_ENCODER_URL: native.url, NATIVE_ENCODER_TOKEN: HEAVY_TOKEN, LOG_LEVEL: "error" },
          // This many run at once; the others wait in the queue.
          ...{ ...NO_LIMITS, MAX_RUNNING: "25", WEBHOOK_RETRY_SECONDS: "0.2" },
        },
        secrets: {
          API_KEYS: KEY,
          MEDIA_SIGNING_KEY: "a signing key for the faults of all",
          CONNECTION_KEYS: "a connection key",
        },
      },
      { configPath: join(ROOT, "worker/encoder/wrangler.toml") },
    ],
  });
  base = (await server.listen()).url.origin;
});
afterAll(async () => {
  await server?.close();
  await Promise.all([native?.close(), origin?.close(), receiver?.close()]);
  await rm(folder, { recursive: true, force: true });
});

const headers = { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" };

/** Requests like a client: retries transient failures. */
async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  for (const end = Date.now() + 300_000; ; await sleep(300)) {
    const response = await fetch(base + path, { ...init, headers: { ...headers, ...init.headers } });
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    // No other status may occur, and no internals may leak.
    expect([500, 503, 409], text).toContain(response.status);
    expect(text).not.toContain("injected");
    if (Date.now() > end) throw new Error(`${path} keeps failing: ${text}`);
  }
}

async function create<T extends Task | Job = Task>(body: object, path = "/tasks"): Promise<T> {
  const init = { method: "POST", headers: { "Idempotency-Key": randomUUID() }, body: JSON.stringify(body) };
  return ask<T>(path, init);
}

async function listAll(): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let page: Task[] | null = null; page === null || page.length === 100; tasks.push(...page)) {
    const after = tasks.at(-1)?.id;
    page = await ask<Task[]>(`/tasks?limit=100${after ? `&after=${after}` : ""}`);
  }
  return tasks;
}

const fail = async (thing: string) =>
  (await (await fetch(`${base}/failing/${thing}`, { method: "PUT" })).json()) as Record<string, number>;

/** Fails each part in turn for a while, three times. */
async function failInTurn(onTurn: (thing: string) => void): Promise<void> {
  for (const thing of [TURNS, TURNS, TURNS].flat()) {
    await fail(thing);
    onTurn(thing);
    if (thing === "container") await native.kill();
    await sleep(TURN_MS);
    if (thing === "container") await native.restart();
  }
  // On a busy machine, one may not have been asked for anything in its turns.
  for (const thing of TURNS.slice(0, -1)) {
    const struck = async () => (await fail(thing))[thing] ?? 0;
    if ((await struck()) > 0) continue;
    onTurn(thing);
    await expect.poll(struck, { timeout: 60_000, message: thing }).toBeGreaterThan(0);
  }
  await fail("nothing");
}

test("100 tasks and 3 jobs survive rolling failures of KV, R2, the objects, the engine and the container; each ends and its end is reported", async () => {
  const webhook_url = receiver.serve("/ends", (request) => (request % 5 === 0 ? 503 : 200));
  const serve = async (name: "png" | "wav") => origin.serve(`/${name}`, { file: await clip(name) });
  const [png, wav] = await Promise.all([serve("png"), serve("wav")]);
  const requests = [
    { input: png, kind: "image", options: { format: "jpeg", width: 32 } },
    { input: wav, kind: "audio", options: { format: "flac" } },
    { input: png, kind: "image", options: { format: "avif", width: 32 } },
    { input: `${origin.url}/none.png`, kind: "image" },
  ];
  const creating = Array.from({ length: COUNT }, (_, index) =>
    create({ ...requests[index % requests.length], webhook_url }),
  );
  const outputs = ["png", "webp", "jpeg"].map((format, index) => ({
    ...{ kind: "image", options: { format, width: 16 }, ...(index > 0 && { after: index - 1 }) },
  }));
  const starting: Promise<Job>[] = [];
  await failInTurn((thing) => {
    // The object of jobs has work in its turn only if one is created then.
    if (thing === "JOB") starting.push(create<Job>({ input: png, outputs, webhook_url }, "/jobs"));
  });
  const [created, jobs] = await Promise.all([Promise.all(creating), Promise.all(starting)]);
  const open = async () => (await listAll()).filter(({ finished_at }) => finished_at === null).length;
  await expect.poll(open, { timeout: 300_000, interval: 500 }).toBe(0);
  const records = await listAll();
  // All tasks of each job, and none of one that was refused meanwhile.
  const all = [...created, ...jobs.flatMap(({ tasks }) => tasks)];
  expect(records.map(({ id }) => id).toSorted()).toEqual(all.map(({ id }) => id).toSorted());
  for (const { id } of jobs) expect((await ask<Job>(`/jobs/${id}`)).status).toBe("succeeded");
  for (const [index, { id }] of created.entries()) {
    const task = records.find((each) => each.id === id);
    if (index % 4 === 3) expect(task).toMatchObject({ status: "failed", error: { kind: "input_not_found" } });
    else expect([task?.error, task?.status]).toEqual([null, "succeeded"]);
  }
  // Each task's end event arrives with its final record, and no event reports another end.
  const ends = () =>
    receiver
      .requests("/ends")
      .filter(({ event }) => /^task\.(?:succeeded|failed|cancelled)$/.test(event.kind));
  const reported = () => new Set(ends().map(({ event }) => event.data.id));
  await expect.poll(() => reported().size, { timeout: 300_000, interval: 200 }).toBe(all.length);
  for (const { event } of ends()) {
    const task = records.find(({ id }) => id === event.data.id);
    expect([event.kind, event.data]).toEqual([`task.${task?.status}`, task]);
  }
}, 900_000);
