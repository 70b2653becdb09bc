import { afterAll, beforeAll, expect, test } from "vitest";
import type { NewApiKey } from "../../../src/runs/key.ts";
import type { Task } from "../../../src/runs/task.ts";
import { QUEUE_NAME } from "../../../worker/limits/run-queue.ts";
import { instanceStatus } from "../../../worker/run/workflow-instance.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { type Bindings, createRig } from "../engine/rig.ts";

const rig = createRig({
  MAX_RUNNING: "2",
  MAX_RUNNING_TOTAL: "3",
  MAX_CREATIONS: "10",
  MAX_WAITING: "2",
});
const BETA = "key-of-beta";
let origin: Origin;
let base: URL;
let env: Bindings;
let input: string;

beforeAll(async () => {
  [origin, { url: base }] = await Promise.all([startOrigin(), rig.server.listen()]);
  env = await rig.worker().getEnv();
  input = origin.serve("/hang.mp4", { silent: true });
});
afterAll(async () => {
  await rig.server.close();
  await origin?.close();
});

const post = (path: string, body?: unknown, key?: string) =>
  rig.call(path, { method: "POST", body, ...(key && { key }) });

async function create(key?: string): Promise<string> {
  const { status, json } = await post("/tasks", { input, kind: "video" }, key);
  expect([status, json.status]).toEqual([201, "queued"]);
  await entered(json.id);
  return json.id;
}

/** Waits until a task has heard back from the queue, so that later ones queue behind it. */
async function entered(id: string): Promise<void> {
  const { exec } = await rig.worker().getDurableObjectStorage("TASK", { name: id });
  await rig.until(
    () => exec<{ turn: string }>("SELECT turn FROM turn"),
    ([row]) => row?.turn === "waits" || row?.turn === "goes_on",
  );
}

async function createMany(count: number, key?: string): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await create(key));
  return ids;
}

const read = async (id: string, key?: string): Promise<Task> =>
  (await rig.call(`/tasks/${id}`, key === undefined ? {} : { key })).json;
const runs = (id: string, key?: string) =>
  rig.until(
    () => read(id, key),
    ({ status }) => status === "processing",
  );
const cancel = async (id: string, key?: string) =>
  expect((await post(`/tasks/${id}/cancel`, undefined, key)).status).toBe(200);

/** Asserts that tasks wait and that the engine has started nothing for them. */
async function wait(ids: readonly string[], key?: string): Promise<void> {
  for (const id of ids) {
    expect(await read(id, key)).toMatchObject({ status: "queued", started_at: null });
    expect(await instanceStatus(env, id)).toBeNull();
  }
}

test.each([
  { path: "/tasks", more: { "has-more": "false" } },
  { path: "/tasks/none", more: {} },
])("an answer of $path names its length and has each header once", async ({ path, more }) => {
  const headers = { Authorization: `Bearer ${BETA}`, "Accept-Encoding": "identity" };
  const answer = await fetch(new URL(path, base), { headers });
  const bytes = (await answer.arrayBuffer()).byteLength;
  expect(Object.fromEntries(answer.headers)).toEqual({
    ...more,
    "content-length": String(bytes),
    "content-type": "application/json",
    "cache-control": "no-store",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": expect.stringMatching(/^Request-Id,Link,/),
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    ratelimit: expect.stringMatching(/^"requests";r=\d+;t=\d+$/),
    "ratelimit-policy": expect.stringMatching(/^"requests";q=\d+;w=60, "creations";q=10;w=60$/),
    "referrer-policy": "no-referrer",
    "request-id": expect.stringMatching(/^req_/),
    "strict-transport-security": "max-age=15552000",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
});

test("tasks beyond the limit wait in the queue and take turns with those of other projects", async () => {
  const [a1 = "", a2 = "", a3 = "", a4 = ""] = await createMany(4);
  await Promise.all([runs(a1), runs(a2)]);
  await wait([a3, a4]);
  const [b1 = "", b2 = ""] = await createMany(2, BETA);
  await runs(b1, BETA);
  await wait([b2], BETA);
  await cancel(a1);
  await runs(a3);
  await wait([a4]);
  await wait([b2], BETA);
  // The queue's state is on disk.
  await rig.worker().evictDurableObject("QUEUE", { name: QUEUE_NAME });
  // The other project has had fewer turns.
  await cancel(a2);
  await runs(b2, BETA);
  await wait([a4]);
  // A waiting task is cancelled like any other and never starts.
  await cancel(a4);
  expect((await read(a4)).started_at).toBeNull();
  expect((await rig.call(`/tasks/${a4}`, { method: "DELETE" })).status).toBe(204);
  const a5 = await create();
  await wait([a5]);
  await cancel(b1, BETA);
  await runs(a5);
  for (const id of [a3, a5]) await cancel(id);
  await cancel(b2, BETA);
});

test("gives the places of lost runs to waiting ones", async () => {
  const { exec } = await rig.worker().getDurableObjectStorage("QUEUE", { name: QUEUE_NAME });
  for (const run_id of ["lost-1", "lost-2", "lost-3"]) {
    await exec(
      "INSERT INTO turn (run_id, project, key_id, goes_on, seen_at) VALUES (?, 'gamma', 'key_lost', 1, 0)",
      run_id,
    );
  }
  const id = await create();
  await runs(id);
  expect(await exec("SELECT run_id FROM turn")).toEqual([{ run_id: id }]);
  await cancel(id);
});

async function makeKey(): Promise<NewApiKey & { secret: string }> {
  const { status, json } = await post("/keys", { name: "busy", scopes: ["read", "write", "admin"] });
  expect(status).toBe(201);
  return json;
}

test("limits how many records a key creates in a minute, and shows its last use", async () => {
  const { id, secret } = await makeKey();
  const answers: Awaited<ReturnType<typeof post>>[] = [];
  for (let time = 0; time < 11; time++) answers.push(await post("/keys", { name: "one more" }, secret));
  expect(answers.map(({ status }) => status)).toEqual([...Array<number>(10).fill(201), 429]);
  const { json, headers } = answers.at(-1) ?? {};
  expect(json).toMatchObject({ kind: "rate_limited" });
  const seconds = Number(headers?.get("Retry-After"));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(headers?.get("RateLimit")).toMatch(
    new RegExp(`^"requests";r=\\d+;t=${seconds}, "creations";r=0;t=${seconds}$`),
  );
  expect(headers?.get("RateLimit-Policy")).toBe('"requests";q=1000000;w=60, "creations";q=10;w=60');
  const shown = await rig.until(
    async () => (await rig.call(`/keys/${id}`)).json,
    ({ last_used_at }) => last_used_at !== null,
  );
  expect(Date.now() - shown.last_used_at).toBeLessThan(60_000);
});

test("tasks that wait for another output of their job count as waiting", async () => {
  const { secret } = await makeKey();
  const body = { input, outputs: [{ kind: "video" }, { kind: "audio", after: 0 }] };
  const job = await post("/jobs", body, secret);
  expect(job.status).toBe(201);
  const refused = await post("/jobs", body, secret);
  expect([refused.status, refused.json.kind]).toEqual([429, "rate_limited"]);
  expect((await post(`/jobs/${job.json.id}/cancel`, undefined, secret)).status).toBe(200);
  const { exec } = await rig.worker().getDurableObjectStorage("QUEUE", { name: QUEUE_NAME });
  await rig.until(
    () => exec("SELECT run_id FROM turn"),
    (rows) => rows.length === 0,
  );
  const second = await post("/jobs", body, secret);
  expect(second.status).toBe(201);
  expect((await post(`/jobs/${second.json.id}/cancel`, undefined, secret)).status).toBe(200);
});

test("limits how many tasks of a project may wait", async () => {
  const { secret } = await makeKey();
  const created: string[] = [];
  const refused = await rig.until(
    async () => {
      const answer = await post("/tasks", { input, kind: "video" }, secret);
      if (answer.status !== 201) return answer;
      created.push(answer.json.id);
      await entered(answer.json.id);
      return answer;
    },
    ({ status }) => status !== 201,
  );
  expect([refused.status, refused.json.kind, refused.headers.get("Retry-After")]).toEqual([
    429,
    "rate_limited",
    "10",
  ]);
  expect(refused.json.message).toMatch(/^2 tasks and steps of this project wait/);
  expect(created).toHaveLength(4);
  for (const id of created.toReversed()) await cancel(id, secret);
  // Other keys are unaffected.
  await cancel(await create(BETA), BETA);
});
