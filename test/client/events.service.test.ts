import { afterEach, beforeEach, expect, test } from "vitest";
import { readEvents } from "../../src/client/read-events.ts";
import { createRemoteClient } from "../../src/client/remote.ts";
import type { RemoteClient } from "../../src/client/remote-client.ts";
import type { Answer } from "../fixtures/origin.ts";
import { history, QUEUED } from "./records.ts";
import { CUT, refusal, type ScriptedApi, startScriptedApi } from "./scripted-api.ts";

const TASK = `/tasks/${QUEUED.id}`;
const AT = `${TASK}/events`;
const STATES = history();
const DONE = STATES.at(-1);

let api: ScriptedApi;
let client: RemoteClient;
beforeEach(async () => {
  api = await startScriptedApi();
  client = createRemoteClient({ baseUrl: api.url, apiKey: "k", poll: { firstMs: 5, maxMs: 20 } });
});
afterEach(async () => {
  await client.close();
  await api.close();
});

/** An event stream of states, by their index in the history; the index is also the event's id. */
function stream(places: readonly number[], more: Partial<Answer> = {}, extra: object = {}): Answer {
  const events = places.map((place) => {
    const data = JSON.stringify({ record: STATES[place], progress: null, speed: null, eta: null, ...extra });
    return `: a comment\nevent: update\nid: ${place}\ndata: ${data}\n\n`;
  });
  return { file: Buffer.from(events.join("")), mime: "text/event-stream", ...more };
}

const lastEventIds = () =>
  api.log.filter(({ path }) => path === AT).map(({ headers }) => headers["last-event-id"]);
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (thrown) => thrown,
  );

test("yields updates in order, and resumes a broken connection after the last complete event", async () => {
  const whole = stream([0, 2]).file as Buffer;
  const torn = stream([0, 2, 3], { cut_after: whole.length + 40 });
  api.at(
    AT,
    torn,
    CUT,
    refusal(503, { kind: "service_unavailable", message: "Away." }),
    stream([]),
    stream([4, 7, 10]),
  );
  const records = [];
  for await (const { record } of client.watch(QUEUED)) records.push(record);
  expect(records).toEqual([0, 2, 4, 7, 10].map((place) => STATES[place]));
  expect(lastEventIds()).toEqual([undefined, "2", "2", "2", "2"]);
  expect(api.log[0]?.headers).toMatchObject({ accept: "text/event-stream", authorization: "Bearer k" });
});

test("reads the record when the final event was lost", async () => {
  const choice = { encoder: "native", reason: "it is large" };
  api.at(AT, stream([7], {}, { choice }), { status: 204 });
  api.at(TASK, DONE ?? {});
  const updates = await Array.fromAsync(client.watch(QUEUED));
  expect(updates.map(({ record }) => record)).toEqual([STATES[7], DONE]);
  expect(updates[0]).toMatchObject({ choice });
  expect(updates[1]).toMatchObject({ progress: 100, speed: null, eta: null, choice });
});

test("closes the connection when the loop is left", async () => {
  const sent = stream([0, 1]);
  api.at(AT, { ...sent, stall_after: (sent.file as Buffer).length - 5 });
  for await (const { record } of client.watch(QUEUED)) {
    expect(record).toEqual(STATES[0]);
    break;
  }
  await expect.poll(() => api.log.map(({ done }) => done)).toEqual([true]);
});

test("rejects with the reason of an aborted signal, or when the client closes", async () => {
  const sent = stream([0, 1]);
  api.at(AT, { ...sent, stall_after: (sent.file as Buffer).length - 5 });
  const reason = new Error("the visitor left");
  const stop = new AbortController();
  const events = client.watch(QUEUED, { signal: stop.signal });
  expect((await events.next()).value?.record).toEqual(STATES[0]);
  const next = events.next();
  stop.abort(reason);
  expect(await failure(next)).toBe(reason);
  expect(await failure(client.watch(QUEUED, { signal: stop.signal }).next())).toBe(reason);
  const others = client.watch(QUEUED);
  await others.next();
  const last = others.next();
  await client.close();
  expect(await failure(last)).toMatchObject({
    kind: "service_unavailable",
    message: "The client is closed.",
  });
  await expect.poll(() => api.log.map(({ done }) => done)).toEqual([true, true]);
});

test.for([
  {
    status: 404,
    body: { kind: "task_not_found", message: "There is no task with that id." },
    kind: "task_not_found",
  },
  { status: 401, body: { kind: "token_invalid", message: "No such key." }, kind: "token_invalid" },
] as const)("rejects at once on status $status", async ({ status, body, kind }) => {
  api.at(AT, refusal(status, body));
  expect(await failure(client.watch(QUEUED).next())).toMatchObject({ kind, message: body.message });
  expect(lastEventIds()).toHaveLength(1);
});

test("rejects events that are not task updates, and ids that are not valid", async () => {
  api.at(AT, { file: Buffer.from("event: update\nid: 1\ndata: {}\n\n") });
  expect(await failure(client.watch(QUEUED).next())).toMatchObject({
    kind: "service_unavailable",
    retryable: false,
  });
  expect(await failure(client.watch("task_../x").next())).toMatchObject({ kind: "task_not_found" });
});

test.for([1, 2, 3, 7, 1000])("parses events as browsers do, in chunks of %i bytes", async (size) => {
  const text =
    ": hello\r\n\r\nevent: a\rid: 1\rdata: one\rdata:two\r\rdata: é…\n\nid: 3\n\nid\ndata\n\nevent: none\n\nid: x\0\ndata:  two spaces\nother: 1\n\ndata: never ended";
  const bytes = new TextEncoder().encode(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.slice(at * size, (at + 1) * size),
  );
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const events = await Array.fromAsync(readEvents(body));
  expect(events).toEqual([
    { event: "a", id: "1", data: "one\ntwo" },
    { event: "message", id: "1", data: "é…" },
    { event: "message", id: "", data: "" },
    { event: "message", id: "", data: " two spaces" },
  ]);
});

test("rejects when the connection goes silent", async () => {
  const silent = new ReadableStream<Uint8Array>();
  await expect(readEvents(silent, 20).next()).rejects.toThrow("Nothing came for 20 ms.");
});
