import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKey, hashKey } from "../../../worker/auth/keys.ts";
import { startService } from "./service.ts";

let service: Awaited<ReturnType<typeof startService>>;
const stored = await createKey();

beforeAll(async () => {
  service = await startService("boot-key, team:team-key ,team:second-key,colon:a:b");
  const record = { id: "key_1", name: "laptop", project: "kept", created_at: 1 };
  await service.bindings.KV.put(`key:${await hashKey(stored)}`, JSON.stringify(record));
});
afterAll(() => service?.close());

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
  expect(await ask(`Bearer ${await createKey()}`)).toMatchObject({ status: 401, kind: "token_invalid" });
});

test("rejects the hash that a key is stored under", async () => {
  expect(await ask(`Bearer ${await hashKey(stored)}`)).toMatchObject({ status: 401 });
  expect(await ask(`Bearer key:${await hashKey(stored)}`)).toMatchObject({ status: 401 });
});

test("accepts a new key at once, even right after rejecting it", async () => {
  const fresh = await createKey();
  expect(await ask(`Bearer ${fresh}`)).toMatchObject({ status: 401 });
  const record = { id: "key_2", name: "new", project: "kept", created_at: 2 };
  await service.bindings.KV.put(`key:${await hashKey(fresh)}`, JSON.stringify(record));
  expect(await ask(`Bearer ${fresh}`)).toMatchObject({ status: 200 });
});

test("rejects a key whose stored record is malformed", async () => {
  const broken = await createKey();
  await service.bindings.KV.put(`key:${await hashKey(broken)}`, JSON.stringify({ project: 5 }));
  expect(await ask(`Bearer ${broken}`)).toMatchObject({ status: 401, kind: "token_invalid" });
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
  for (const key of ["boot-key", "team-key", stored]) expect(service.logs()).not.toContain(key);
});
