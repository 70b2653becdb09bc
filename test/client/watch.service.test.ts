import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client, Update } from "../../src/client/client.ts";
import { createRemoteClient } from "../../src/client/remote.ts";
import type { Task } from "../../src/runs/task.ts";
import { history, QUEUED } from "./records.ts";
import { CUT, refusal, type ScriptedApi, startScriptedApi } from "./scripted-api.ts";

const AT = `/tasks/${QUEUED.id}`;
const STATES = history();
const DONE = STATES.at(-1) as Task;

let api: ScriptedApi;
let client: Client;
beforeEach(async () => {
  api = await startScriptedApi();
  client = createRemoteClient({ baseUrl: api.url, apiKey: "k", poll: { firstMs: 5, maxMs: 20 } });
});
afterEach(async () => {
  await client.close();
  await api.close();
});

test("reports each state once with its percent and pace, and polls once for all listeners", async () => {
  const script = STATES.flatMap((state) => [state, state]);
  api.at(AT, ...script);
  const [first, second]: [Update<Task>[], Update<Task>[]] = [[], []];
  client.on(QUEUED, "update", (update) => first.push(update));
  client.on<Task>(QUEUED.id, "update", (update) => second.push(update));
  expect(await client.tasks.wait(QUEUED)).toEqual(DONE);
  expect(first.map(({ record }) => record)).toEqual(STATES);
  expect(first.map(({ progress }) => progress)).toEqual([null, null, 2, 2, 10, 10, 18, 52, 95, 95, 100]);
  // 20 seconds of media: 10 % after the first second of the encode, 50 % after the second; the pace is measured between the two.
  expect([first[6]?.speed, first[6]?.eta]).toEqual([expect.closeTo(20 / 9.5), expect.closeTo(8.5)]);
  expect([first[7]?.speed, first[7]?.eta]).toEqual([expect.closeTo(20 / 2.375), expect.closeTo(1.125)]);
  expect(second).toEqual(first);
  expect(api.requestsTo(AT)).toHaveLength(script.length - 1);
});

test("ignores an older record that arrives late", async () => {
  api.at(AT, ...[STATES[7], STATES[6], STATES[7], STATES[2], DONE].map((state) => state ?? QUEUED));
  const records: Update<Task>[] = [];
  client.on(QUEUED, "update", (update) => records.push(update));
  await client.tasks.wait(QUEUED);
  expect(records.map(({ record }) => record)).toEqual([STATES[7], DONE]);
});

test("keeps polling while the service is away", async () => {
  const away = refusal(503, { kind: "service_unavailable", message: "Away." }, { "Retry-After": "1" });
  const script = [QUEUED, CUT, refusal(502, "<html>"), away, STATES[5] ?? QUEUED, CUT, DONE];
  api.at(AT, ...script);
  const records: Task[] = [];
  client.on(QUEUED, "update", ({ record }) => records.push(record));
  expect(await client.tasks.wait(QUEUED)).toEqual(DONE);
  expect(records).toEqual([QUEUED, STATES[5], DONE]);
  expect(api.requestsTo(AT)).toHaveLength(script.length);
});

test.for([
  { kind: "task_not_found", status: 404 },
  { kind: "token_invalid", status: 401 },
] as const)("$kind ends a watch", async ({ kind, status }) => {
  api.at(AT, QUEUED, refusal(status, { kind, message: "No." }));
  const records: Task[] = [];
  client.on(QUEUED, "update", ({ record }) => records.push(record));
  await expect(client.tasks.wait(QUEUED)).rejects.toMatchObject({ kind, message: "No.", retryable: false });
  expect(records).toEqual([QUEUED]);
  // A later watch polls again.
  api.at(AT, DONE);
  expect(await client.tasks.wait(QUEUED)).toEqual(DONE);
});

test("only the last listener to unsubscribe aborts the pending request", async () => {
  api.at(AT, QUEUED, { silent: true });
  const leave = [1, 2].map(() => client.on(QUEUED, "update", () => {}));
  await expect.poll(() => api.log.length).toBe(2);
  leave[0]?.();
  leave[0]?.();
  expect(api.log[1]?.done).toBe(false);
  leave[1]?.();
  await expect.poll(() => api.log[1]?.done).toBe(true);
  expect(api.log).toHaveLength(2);
});

test("an aborted wait aborts its request", async () => {
  api.at(AT, { silent: true });
  const stop = new AbortController();
  const waiting = client.tasks.wait(QUEUED, { signal: stop.signal });
  await expect.poll(() => api.log.length).toBe(1);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  await expect.poll(() => api.log[0]?.done).toBe(true);
  await expect(client.tasks.wait(QUEUED, { signal: AbortSignal.abort("gone") })).rejects.toBe("gone");
  expect(api.log).toHaveLength(1);
});

test("close() ends every watch and rejects pending waits", async () => {
  const other = `/steps/${QUEUED.steps[0]?.id}`;
  for (const path of [AT, other]) api.at(path, { silent: true });
  const waits = [client.tasks.wait(QUEUED), client.steps.wait(QUEUED.steps[0]?.id ?? "")];
  await expect.poll(() => api.log.length).toBe(2);
  await client.close();
  for (const wait of waits) {
    await expect(wait).rejects.toMatchObject({
      kind: "service_unavailable",
      message: "The client is closed.",
    });
  }
  await expect.poll(() => api.log.every(({ done }) => done)).toBe(true);
});

test("waiting for a finished record sends no request", async () => {
  expect(await client.tasks.wait(DONE)).toBe(DONE);
  expect(api.log).toEqual([]);
});
