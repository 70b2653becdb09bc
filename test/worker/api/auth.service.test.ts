import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NewApiKey } from "../../../src/runs/key.ts";
import { createKey, hashKey, locatorOf } from "../../../worker/auth/key-ring.ts";
import { OPERATOR_KEY, startService } from "./service.ts";

let service: Awaited<ReturnType<typeof startService>>;
let stored: string;

beforeAll(async () => {
  service = await startService("boot-key, team:team-key ,team:second-key,colon:a:b");
  stored = (await operate<NewApiKey>("POST", "/keys", "kept", { name: "laptop" })).body.secret ?? "";
});
afterAll(() => service?.close());

async function operate<Body>(method: string, path: string, project?: string, body?: object) {
  const headers = {
    Authorization: `Bearer ${OPERATOR_KEY}`,
    "Content-Type": "application/json",
    ...(project !== undefined && { "Framewright-Project": project }),
  };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(service.base + path, init);
  const text = await response.text();
  return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as Body };
}

async function ask(authorization: string | null, path = "/tasks") {
  const headers: Record<string, string> = authorization === null ? {} : { Authorization: authorization };
  const response = await fetch(service.base + path, { headers });
  const body = (await response.json()) as { kind?: string };
  return { status: response.status, kind: body.kind, challenge: response.headers.get("WWW-Authenticate") };
}

// Once the page is built, `/` serves it without a key.
const HOME = existsSync(new URL("../../../dist/assets/index.html", import.meta.url)) ? [] : ["/"];

test.each(["/tasks", "/steps", "/tasks/task_01kbb1d3x4e8v0t6m9q2y5z7av", "/nope", ...HOME])(
  "%s without an Authorization header is token_missing",
  async (path) => {
    expect(await ask(null, path)).toEqual({
      status: 401,
      kind: "token_missing",
      challenge: 'Bearer realm="framewright"',
    });
  },
);

test.each([
  "Bearer unknown",
  "Bearer boot-key2",
  "Bearer boot-ke",
  "Bearer BOOT-KEY",
  "Bearer team:team-key",
  "Bearer boot-key,team-key",
  "Bearer boot-key team-key",
  "Bearer",
  "Bearer ",
  "boot-key",
  "Basic Ym9vdC1rZXk6",
  "Bearer: boot-key",
  "Bearer, boot-key",
  "Bearer\tboot-key",
  '"Bearer boot-key"',
  `Bearer ${"x".repeat(513)}`,
  "Bearer key:",
  "Bearer __proto__",
])("%.40j is token_invalid", async (header) => {
  expect(await ask(header)).toEqual({
    status: 401,
    kind: "token_invalid",
    challenge: 'Bearer realm="framewright", error="invalid_token"',
  });
});

test.each([
  "Bearer boot-key",
  "bearer boot-key",
  "Bearer  boot-key",
  "Bearer team-key",
  "Bearer second-key",
  "Bearer a:b",
])("accepts %j", async (header) => {
  expect(await ask(header)).toMatchObject({ status: 200 });
});

test("accepts a stored key and rejects one that differs in a letter", async () => {
  expect(await ask(`Bearer ${stored}`)).toMatchObject({ status: 200 });
  const other = stored.endsWith("0") ? "1" : "0";
  expect(await ask(`Bearer ${stored.slice(0, -1)}${other}`)).toMatchObject({
    status: 401,
    kind: "token_invalid",
  });
  for (const project of ["kept", "team", "no-such-project"]) {
    const unknown = await createKey(await locatorOf(project));
    expect(await ask(`Bearer ${unknown}`)).toMatchObject({ status: 401, kind: "token_invalid" });
  }
});

test("rejects the hash that a key is stored under", async () => {
  expect(await ask(`Bearer ${await hashKey(stored)}`)).toMatchObject({ status: 401 });
  expect(await ask(`Bearer key:${await hashKey(stored)}`)).toMatchObject({ status: 401 });
});

test("accepts a new key at once, and rejects one at once that was revoked", async () => {
  const { body } = await operate<NewApiKey>("POST", "/keys", "brief", { name: "new" });
  expect(await ask(`Bearer ${body.secret}`)).toMatchObject({ status: 200 });
  expect(await operate("DELETE", `/keys/${body.id}`, "brief")).toEqual({ status: 204, body: null });
  expect(await ask(`Bearer ${body.secret}`)).toMatchObject({ status: 401, kind: "token_invalid" });
});

test("an operator manages the keys of a project that it names, and nothing else", async () => {
  const listed = await operate<NewApiKey[]>("GET", "/keys", "kept");
  expect(listed.body).toMatchObject([{ name: "laptop", scopes: ["read", "write"] }]);
  expect((await operate<string[]>("GET", "/operator/projects")).body).toEqual(
    expect.arrayContaining(["brief", "kept"]),
  );
  expect(await operate("GET", "/keys")).toMatchObject({ status: 400, body: { kind: "request_invalid" } });
  expect(await operate("GET", "/keys", "no spaces")).toMatchObject({ status: 400 });
  for (const path of ["/tasks", "/connections", "/metrics", "/keysx"])
    expect(await operate("GET", path, "kept")).toMatchObject({ status: 403, body: { kind: "forbidden" } });
  // No other key may, and the header changes nothing for it.
  expect(await ask("Bearer boot-key", "/operator/projects")).toMatchObject({ status: 403 });
  const headers = { Authorization: "Bearer boot-key", "Framewright-Project": "kept" };
  expect(await (await fetch(`${service.base}/keys`, { headers })).json()).toEqual([]);
});

test("open paths need no key and ignore a wrong one", async () => {
  for (const path of ["/health", "/openapi.json", "/docs", "/docs/start.js"]) {
    for (const headers of [{}, { Authorization: "Bearer wrong" }]) {
      expect([path, (await fetch(service.base + path, { headers })).status]).toEqual([path, 200]);
    }
  }
});

test("a missing asset of the page is 404 with any key or none", async () => {
  for (const headers of [{}, { Authorization: "Bearer wrong" }, { Authorization: "Bearer boot-key" }]) {
    const response = await fetch(`${service.base}/app/none.js`, { headers });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ kind: "route_not_found" });
  }
});

test("paths that resemble open ones need a key", async () => {
  for (const path of [
    "/healthy",
    "/health/x",
    "/docsx",
    "/openapi.json/x",
    "/mediax",
    "/media",
    "/app",
    "/apps/none.js",
    "//health",
    "/HEALTH",
  ]) {
    expect([path, (await fetch(service.base + path)).status]).toEqual([path, 401]);
  }
});

async function probe(key: string): Promise<string> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ kind: "probe", input: { url: "http://127.0.0.1:9/a.mp4" } });
  const response = await fetch(`${service.base}/steps`, { method: "POST", headers, body });
  return ((await response.json()) as { id: string }).id;
}

test("keys of one project share records; keys of other projects see none of them", async () => {
  const id = await probe("team-key");
  const mine = await probe(stored);
  expect(await ask("Bearer second-key", `/steps/${id}`)).toMatchObject({ status: 200 });
  for (const key of ["boot-key", "a:b", stored]) {
    expect(await ask(`Bearer ${key}`, `/steps/${id}`)).toMatchObject({ status: 404, kind: "step_not_found" });
  }
  expect(await ask(`Bearer ${stored}`, `/steps/${mine}`)).toMatchObject({ status: 200 });
  expect(await ask("Bearer team-key", `/steps/${mine}`)).toMatchObject({ status: 404 });
});

test("never logs a key", () => {
  for (const key of ["boot-key", "team-key", stored, OPERATOR_KEY]) expect(service.logs()).not.toContain(key);
});
