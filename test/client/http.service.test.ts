import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { createRemoteClient } from "../../src/client/remote.ts";
import { MediaError } from "../../src/media/errors.ts";
import { history, QUEUED } from "./records.ts";
import { CUT, refusal, type ScriptedApi, startScriptedApi } from "./scripted-api.ts";

const KEY = "secret-key-of-the-test";
const WISH = { input: "https://example.com/a.mp4", kind: "video" } as const;
const AT = `/tasks/${QUEUED.id}`;
const PAGE = "<html>Bad gateway</html>";
const away = refusal(503, { kind: "service_unavailable", message: "Away.", request_id: "req_1" });
const busy = (seconds: number) =>
  refusal(429, { kind: "rate_limited", message: "Too many." }, { "Retry-After": String(seconds) });

let api: ScriptedApi;
let client: Client;
beforeEach(async () => {
  api = await startScriptedApi();
  client = createRemoteClient({ baseUrl: api.url, apiKey: KEY });
});
afterEach(async () => {
  await client.close();
  await api.close();
});

/** Returns the error that a call rejects with, after checking that it does not contain the key. */
async function failure(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof MediaError)) throw new Error(`no MediaError: ${inspect(error)}`);
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(KEY);
  const { kind, message, param, retryable } = error;
  return { kind, message, param, retryable };
}

test("sends the key and JSON, and returns the parsed answer", async () => {
  api.at("/tasks", refusal(201, QUEUED));
  expect(await client.tasks.create({ ...WISH, metadata: { a: 1 } })).toEqual(QUEUED);
  const [{ method, headers } = { method: "", headers: {} }] = api.log;
  expect([method, headers.authorization, headers["content-type"]]).toEqual([
    "POST",
    `Bearer ${KEY}`,
    "application/json",
  ]);
});

test("list() returns the records and whether more follow", async () => {
  api.at("/tasks", refusal(200, [QUEUED], { "Has-More": "true" }));
  const query = { limit: 1, order: "asc", kind: "video", status: "queued" } as const;
  expect(await client.tasks.list(query)).toEqual({ records: [QUEUED], more: true });
  expect(await client.tasks.list()).toEqual({ records: [QUEUED], more: true });
  api.at("/steps", []);
  expect(await client.steps.list({})).toEqual({ records: [], more: false });
});

test("accepts a base URL with a path and trailing slashes", async () => {
  api.at(`/v1/media${AT}`, QUEUED);
  const deep = createRemoteClient({ baseUrl: `${api.url}/v1/media//`, apiKey: KEY });
  expect(await deep.tasks.get(QUEUED.id)).toEqual(QUEUED);
});

test("retries reads after transient failures", async () => {
  api.at(AT, CUT, refusal(502, PAGE), away, QUEUED);
  expect(await client.tasks.get(QUEUED.id)).toEqual(QUEUED);
  expect(api.requestsTo(AT)).toEqual(["GET 200", "GET 502", "GET 503", "GET 200"]);
});

test("gives up a read after four tries", async () => {
  api.at(AT, refusal(500, { kind: "internal_error", message: "Something failed." }));
  expect(await failure(client.tasks.get(QUEUED.id))).toEqual({
    ...{ kind: "internal_error", message: "Something failed.", param: undefined, retryable: true },
  });
  expect(api.requestsTo(AT)).toHaveLength(4);
});

test.for([
  { name: "a broken connection", answer: CUT, kind: "service_unavailable" },
  { name: "a gateway error", answer: refusal(502, PAGE), kind: "service_unavailable" },
  {
    name: "an internal error",
    answer: refusal(500, { kind: "internal_error", message: "x" }),
    kind: "internal_error",
  },
  { name: "a 503 without Retry-After", answer: away, kind: "service_unavailable" },
] as const)(
  "after $name, retries a create under the same idempotency key, but not a cancel",
  async ({ answer, kind }) => {
    const keys: unknown[] = [];
    const watched = createRemoteClient({
      ...{ baseUrl: api.url, apiKey: KEY },
      fetch(url, init) {
        keys.push(new Headers(init?.headers).get("Idempotency-Key"));
        return fetch(url, init);
      },
    });
    const busy = refusal(409, { kind: "idempotency_conflict", message: "Still being answered." });
    api.at("/tasks", answer, busy, refusal(201, QUEUED));
    expect(await watched.tasks.create(WISH)).toEqual(QUEUED);
    expect(keys).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), keys[0], keys[0]]);
    api.at(`${AT}/cancel`, answer);
    expect(await failure(watched.tasks.cancel(QUEUED.id))).toMatchObject({ kind, retryable: true });
    expect(keys.slice(3)).toEqual([null]);
  },
);

test("a create waits while an earlier request with the same key is still in progress", async () => {
  const keys: unknown[] = [];
  const watched = createRemoteClient({
    ...{ baseUrl: api.url, apiKey: KEY },
    fetch(url, init) {
      keys.push(new Headers(init?.headers).get("Idempotency-Key"));
      return fetch(url, init);
    },
  });
  const running = refusal(409, { kind: "idempotency_conflict", message: "Still being answered." });
  api.at("/tasks", running, running, running, running, refusal(200, QUEUED));
  expect(await watched.tasks.create(WISH, { idempotencyKey: "run-1" })).toEqual(QUEUED);
  expect(keys).toEqual(Array.from({ length: 5 }, () => "run-1"));
});

test("retries a create after Retry-After, no sooner than that", async () => {
  const later = refusal(503, { kind: "service_unavailable", message: "Away." }, { "Retry-After": "0" });
  api.at("/tasks", busy(1), later, refusal(201, QUEUED));
  const started = performance.now();
  expect(await client.tasks.create(WISH)).toEqual(QUEUED);
  expect(performance.now() - started).toBeGreaterThanOrEqual(990);
  expect(api.requestsTo("/tasks")).toEqual(["POST 429", "POST 503", "POST 201"]);
});

test("retries a create when the service was unreachable", async () => {
  const server = createServer((_, response) => response.writeHead(201).end(JSON.stringify(QUEUED)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  let tries = 0;
  const late = createRemoteClient({
    ...{ baseUrl: `http://127.0.0.1:${port}`, apiKey: KEY },
    async fetch(url, init) {
      if (++tries === 3) await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
      return fetch(url, init);
    },
  });
  try {
    expect(await late.tasks.create(WISH)).toEqual(QUEUED);
    expect(tries).toBe(3);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("does not wait for a Retry-After of a minute", async () => {
  api.at(AT, busy(60));
  expect(await failure(client.tasks.get(QUEUED.id))).toMatchObject({ kind: "rate_limited", retryable: true });
  expect(api.requestsTo(AT)).toHaveLength(1);
});

test.for([
  {
    name: "an error of the service",
    answer: refusal(400, { kind: "invalid_options", message: "Wrong.", param: "options.fps" }),
    kind: "invalid_options",
    param: "options.fps",
  },
  {
    name: "an invalid key",
    answer: refusal(401, { kind: "token_invalid", message: "No." }),
    kind: "token_invalid",
    param: undefined,
  },
  {
    name: "an unknown kind of error",
    answer: refusal(418, { kind: "teapot", message: "Short." }),
    kind: "request_invalid",
    param: undefined,
  },
  { name: "an HTML 404", answer: refusal(404, PAGE), kind: "service_unavailable", param: undefined },
  {
    name: "a redirect",
    answer: { redirect: "http://127.0.0.1:9/tasks" },
    kind: "service_unavailable",
    param: undefined,
  },
  { name: "an HTML page", answer: refusal(200, PAGE), kind: "service_unavailable", param: undefined },
  {
    name: "unexpected JSON",
    answer: refusal(200, { status: "ok" }),
    kind: "service_unavailable",
    param: undefined,
  },
  { name: "an empty body", answer: refusal(200, ""), kind: "service_unavailable", param: undefined },
] as const)("rejects $name at once, as not retryable", async ({ answer, kind, param }) => {
  api.at(AT, answer);
  const failed = await failure(client.tasks.get(QUEUED.id));
  expect(failed).toMatchObject({ kind, param, retryable: false });
  expect(api.log).toHaveLength(1);
});

test("reports an unreachable service", async () => {
  await api.close();
  expect(await failure(client.tasks.cancel(QUEUED.id))).toEqual({
    kind: "service_unavailable",
    message: "The service could not be reached; try again.",
    param: undefined,
    retryable: true,
  });
});

test("rejects values that JSON cannot hold before sending anything", async () => {
  const metadata = { size: 1n };
  expect(await failure(client.tasks.create({ ...WISH, metadata }))).toMatchObject({
    kind: "request_invalid",
  });
  expect(api.log).toEqual([]);
});

test.for(["", "media.example", "ftp://media.example", "https://a:b@media.example", "https://a.example/?x=1"])(
  "rejects %j as base URL",
  (baseUrl) => {
    const error = expect.objectContaining({ kind: "request_invalid", param: "baseUrl" });
    expect(() => createRemoteClient({ baseUrl, apiKey: KEY })).toThrow(error);
  },
);

test.for(["", "two words", `${KEY}\n`, "ключ"])(
  "rejects %j as key, without showing it in the error",
  (apiKey) => {
    try {
      createRemoteClient({ baseUrl: api.url, apiKey });
      expect.unreachable();
    } catch (thrown) {
      expect(thrown).toMatchObject({ kind: "token_invalid", param: "apiKey" });
      expect(inspect(thrown)).not.toContain(apiKey || KEY);
    }
  },
);

test("a closed client sends no requests", async () => {
  await client.close();
  expect(await failure(client.tasks.get(QUEUED.id))).toMatchObject({
    ...{ kind: "service_unavailable", message: "The client is closed.", retryable: false },
  });
  expect(await failure(client.tasks.wait(QUEUED.id))).toMatchObject({ message: "The client is closed." });
  expect(await client.tasks.wait(history().at(-1) ?? "")).toMatchObject({ status: "succeeded" });
  expect(api.log).toEqual([]);
});
