import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import type { WebhookDelivery, WebhookEndpoint, WebhookEvent } from "../../../src/runs/webhook-events.ts";
import { instanceStatus } from "../../../worker/run/workflow-instance.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { type Receiver, startReceiver } from "../webhooks/receiver.ts";
import { createRig } from "./rig.ts";

const rig = createRig();
let origin: Origin;
let receiver: Receiver;

beforeAll(async () => {
  [origin, receiver] = await Promise.all([startOrigin(), startReceiver(), rig.server.listen()]);
});
afterAll(async () => {
  await rig.server.close();
  await receiver?.close();
  await origin?.close();
});

// A retried test must not receive pending deliveries of its first attempt.
beforeEach(async () => {
  for (const { id } of await list<WebhookEndpoint>("/webhooks/endpoints"))
    await rig.call(`/webhooks/endpoints/${id}`, { method: "DELETE" });
});

const TASKS = 16;
// Their encodes take turns on one thread.
const LONG_MS = 150_000;

async function databaseBytes(): Promise<number> {
  const response = await rig.server.fetch("/metrics", { headers: { Authorization: "Bearer key-of-alpha" } });
  return Number(/^framewright_database_bytes (\d+)$/m.exec(await response.text())?.[1]);
}

const list = async <T>(path: string, by = {}): Promise<T[]> => (await rig.call(path, by)).json;

/** Runs tasks until their project has recorded the end of each. */
async function finish(count: number): Promise<Task[]> {
  const input = origin.serve("/still.png", { file: await clip("png") });
  const body = { input, kind: "image", options: { format: "webp", width: 64 } };
  const created = await Promise.all(
    Array.from({ length: count }, async () => (await rig.call("/tasks", { method: "POST", body })).json),
  );
  const ids = new Set<string>(created.map(({ id }) => id));
  const ours = async () =>
    (await list<Task>("/tasks?limit=100&status=succeeded")).filter(({ id }) => ids.has(id));
  return rig.until(ours, (tasks) => tasks.length === count, LONG_MS);
}

const delivered = () =>
  rig.until(
    () => list("/webhooks/deliveries?status=pending"),
    (pending) => pending.length === 0,
  );
const received = (path: string, id?: string) =>
  receiver.requests(path).filter(({ event }) => event.data.id === id);

test("finished tasks take little of their project's database, and can all be read unchanged", async () => {
  await finish(2);
  const start = await databaseBytes();
  await finish(TASKS);
  const alone = await databaseBytes();
  await rig.call("/webhooks/endpoints", { method: "POST", body: { url: receiver.serve("/hooks") } });
  const tasks = await finish(TASKS);
  await delivered();
  const together = await databaseBytes();
  expect((alone - start) / TASKS).toBeLessThan(2048);
  // Three deliveries, each with its attempts.
  expect((together - alone) / TASKS).toBeLessThan(4096);

  const task = tasks[0];
  expect((await rig.call(`/tasks/${task?.id}`)).json).toEqual(task);
  const events = await list<WebhookEvent>("/events?limit=100");
  const posted = received("/hooks", task?.id);
  const kinds = ["task.created", "task.updated", "task.succeeded"];
  expect(new Set(posted.map(({ event }) => event.kind))).toEqual(new Set(kinds));
  expect(posted.find(({ event }) => event.kind === "task.succeeded")?.event.data).toEqual(task);
  for (const { event } of posted) {
    expect((await rig.call(`/events/${event.id}`)).json).toEqual(event);
    expect(events).toContainEqual(event);
  }
});

test("a deleted task leaves nothing in its project's database", async () => {
  await rig.call("/webhooks/endpoints", { method: "POST", body: { url: receiver.serve("/gone") } });
  const [task] = await finish(1);
  await delivered();
  const ours = async (path: string) =>
    (await list<object>(path)).filter((each) => JSON.stringify(each).includes(task?.id ?? ""));
  expect(await ours("/events?limit=100")).toHaveLength(3);
  expect((await rig.call(`/tasks/${task?.id}`, { method: "DELETE" })).status).toBe(204);
  // KV deletes late, and a change of the task may still be in transit.
  const { KV, PROJECT } = await rig.worker().getEnv();
  await KV.put(`task:${task?.id}`, JSON.stringify({ project: "alpha", record: task }));
  const late = { version: 99, kind: "task.updated", at: Date.now(), record: JSON.stringify(task) };
  const set = { run_id: task?.id, changes: [late], webhook_url: null };
  const object = PROJECT.getByName("alpha") as unknown as {
    put(record: unknown, version: number, changes: unknown): Promise<unknown[]>;
  };
  expect(await object.put(task, 99, set)).toEqual([]);
  expect((await rig.call(`/tasks/${task?.id}`)).status).toBe(404);
  expect(await ours("/events?limit=100")).toEqual([]);
  expect(await ours("/tasks?limit=100")).toEqual([]);
  const events = new Set(received("/gone", task?.id).map(({ event }) => event.id));
  expect(events.size).toBe(3);
  const deliveries = await list<WebhookDelivery>("/webhooks/deliveries?limit=100");
  expect(deliveries.filter(({ event_id }) => events.has(event_id))).toEqual([]);
  // One row keeps its id, to reject late changes; its own object is empty.
  const tables = (exec: Exec) => exec("SELECT name FROM sqlite_master WHERE type = 'table'");
  const { exec } = await rig.worker().getDurableObjectStorage("PROJECT", { name: "alpha" });
  const rows: string[] = [];
  for (const { name } of await tables(exec)) {
    if (/^(sqlite|_cf)_/.test(String(name))) continue;
    for (const row of await exec(`SELECT * FROM "${name}"`))
      if (JSON.stringify(row).includes(task?.id ?? "none")) rows.push(String(name));
  }
  expect(rows).toEqual(["gone"]);
  const own = await rig.worker().getDurableObjectStorage("TASK", { name: task?.id ?? "" });
  await rig.until(
    async () => (await tables(own.exec)).map(({ name }) => name),
    (names) => !names.includes("run") && !names.includes("outbox"),
  );
});

type Exec = Awaited<ReturnType<ReturnType<typeof rig.worker>["getDurableObjectStorage"]>>["exec"];

const BETA = { key: "key-of-beta" };

// SQLite refuses every new row once a database has reached 10 GB.
async function fill(full: boolean): Promise<void> {
  const { exec } = await rig.worker().getDurableObjectStorage("PROJECT", { name: "beta" });
  const refuse = "BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END";
  await exec(full ? `CREATE TRIGGER full ${refuse}` : "DROP TRIGGER IF EXISTS full");
}

test("a full project refuses new tasks whole; a task that runs ends, and is listed once there is room", async () => {
  const body = { input: origin.serve("/held.mp3", { silent: true }), kind: "audio" };
  await fill(false);
  const earlier = new Set((await list<Task>("/tasks?limit=100", BETA)).map((task) => task.id));
  const { id } = (await rig.call("/tasks", { method: "POST", body, ...BETA })).json;
  const read = async (): Promise<Task> => (await rig.call(`/tasks/${id}`, BETA)).json;
  const listed = async () => (await list<Task>("/tasks", BETA)).filter((task) => !earlier.has(task.id));
  await rig.until(read, ({ status }) => status === "processing");

  const { MEDIA } = await rig.worker().getEnv();
  await MEDIA.put(`work/${id}/left`, "of an encode");
  await fill(true);
  const request = { input: origin.serve("/never.mp3", { file: await clip("png") }), kind: "audio" };
  const refused = await rig.call("/tasks", { method: "POST", body: request, ...BETA });
  expect([refused.status, refused.json.kind]).toEqual([503, "service_unavailable"]);
  expect((await rig.call(`/tasks/${id}/cancel`, { method: "POST", ...BETA })).json.status).toBe("cancelled");
  const env = await rig.worker().getEnv();
  const { KV, TASK } = env;
  type Mirror = { record: Task } | null;
  const mirror = async () => (await KV.get(`task:${id}`, "json")) as Mirror;
  await rig.until(mirror, (stored) => stored?.record.status === "cancelled");
  const run = () => instanceStatus(env, id);
  await rig.until(run, (status) => status !== "running");
  // The task's own cleanup does not wait for the mirror.
  const files = async () => (await MEDIA.list({ prefix: `work/${id}/` })).objects.length;
  await rig.until(files, (count) => count === 0);
  expect((await read()).status).toBe("cancelled");
  const [before, ...others] = await listed();
  expect([before?.status, others]).toEqual(["processing", []]);
  // The object of a refused task stores nothing.
  const name = `${id.slice(0, -4)}0000`;
  const object = TASK.getByName(name) as unknown as {
    create(project: string, record: unknown, made: unknown): Promise<boolean>;
  };
  expect(await object.create("beta", { ...before, id: name }, { base: "", key_id: "" })).toBe(false);
  const { exec } = await rig.worker().getDurableObjectStorage("TASK", { name });
  const tables = () => exec("SELECT name FROM sqlite_master WHERE name IN ('run', 'outbox')");
  await rig.until(tables, (rows) => rows.length === 0);

  await fill(false);
  await rig.until(listed, ([task]) => task?.status === "cancelled");
  // The refused task left nothing, and its input was never read.
  expect(await listed()).toEqual([await read()]);
  const events = await list<WebhookEvent>("/events?limit=100", BETA);
  expect(events.filter(({ data }) => !earlier.has(data.id)).map(({ data }) => data.id)).toEqual([id, id, id]);
  expect(origin.log.filter(({ path }) => path === "/never.mp3")).toEqual([]);
});

test("a task is read without the index of its project", async () => {
  const body = { input: origin.serve("/missing.mp3", { status: 404 }), kind: "audio" };
  const { id } = (await rig.call("/tasks", { method: "POST", body })).json;
  const [task] = await rig.until(
    () => list<Task>("/tasks?limit=1"),
    ([newest]) => newest?.id === id && newest?.status === "failed",
  );
  const { exec } = await rig.worker().getDurableObjectStorage("PROJECT", { name: "alpha" });
  await exec("ALTER TABLE run RENAME TO away");
  try {
    expect((await rig.call("/tasks")).status).toBe(500);
    expect((await rig.call(`/tasks/${id}`)).json).toEqual(task);
  } finally {
    await exec("ALTER TABLE away RENAME TO run");
  }
});
