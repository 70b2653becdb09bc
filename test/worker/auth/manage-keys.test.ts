import { expect, test } from "vitest";
import type { ApiKey, NewApiKey } from "../../../src/runs/key.ts";
import { createMemoryApi } from "../api/memory-api.ts";
import { createKeyHomes, type MemoryLimits } from "../api/memory-keys.ts";

const START = 1_795_170_600_000;
const HOUR = 3_600_000;

function open(limits: MemoryLimits = {}, clock = { now: START }) {
  const { app } = createMemoryApi({}, {}, { now: () => clock.now, ...limits });
  async function ask<Answer = unknown>(
    method: string,
    path: string,
    body?: unknown,
    key = "good-key",
    more = {},
  ): Promise<{ status: number; answer: Answer }> {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", ...more };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const response = await app.request(path, init);
    const text = await response.text();
    return { status: response.status, answer: text === "" ? null : JSON.parse(text) };
  }
  const status = async (key: string | undefined) => (await ask("GET", "/tasks", undefined, key)).status;
  const create = async (body: object): Promise<NewApiKey> =>
    (await ask<NewApiKey>("POST", "/keys", body)).answer;
  return { clock, ask, status, create };
}

test("shows a secret once, reads the key back without it, and deletes a revoked key", async () => {
  const { ask, status, create } = open();
  const created = await create({ name: "Web shop" });
  const { secret, ...key } = created;
  expect(key).toEqual({
    id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
    object: "key",
    name: "Web shop",
    scopes: ["read", "write"],
    created_at: START,
    last_used_at: null,
  });
  expect(secret).toMatch(/^fw_live_[0-9A-Za-z]{65}$/);
  expect((await ask("GET", `/keys/${key.id}`)).answer).toEqual(key);
  expect((await ask("GET", "/keys")).answer).toEqual([key]);
  expect(await status(secret)).toBe(200);
  expect(await ask("DELETE", `/keys/${key.id}`)).toEqual({ status: 204, answer: null });
  expect((await ask("GET", "/keys")).answer).toEqual([]);
  const unknown = { status: 404, answer: { kind: "key_not_found" } };
  for (const [method, path] of [
    ["GET", `/keys/${key.id}`],
    ["DELETE", `/keys/${key.id}`],
    ["POST", `/keys/${key.id}/roll`],
    ["GET", "/keys/key_x"],
  ] as const) {
    expect(await ask(method, path, method === "POST" ? {} : undefined)).toMatchObject(unknown);
  }
});

test("a revoked key that was just used stops working at once where it was revoked, within 5 seconds elsewhere", async () => {
  const [clock, homes] = [{ now: START }, createKeyHomes()];
  const [here, elsewhere] = [open({ homes }, clock), open({ homes }, clock)];
  const { id, secret } = await here.create({ name: "Used", scopes: ["read", "admin"] });
  expect([await here.status(secret), await elsewhere.status(secret)]).toEqual([200, 200]);
  await here.ask("DELETE", `/keys/${id}`);
  expect(await here.status(secret)).toBe(401);
  clock.now += 4999;
  expect(await elsewhere.status(secret)).toBe(200);
  clock.now += 1;
  expect(await elsewhere.status(secret)).toBe(401);
});

test("a revoked key that is still remembered elsewhere can create, roll and revoke no key", async () => {
  const [clock, homes] = [{ now: START }, createKeyHomes()];
  const [here, elsewhere] = [open({ homes }, clock), open({ homes }, clock)];
  const other = await here.create({ name: "Other", scopes: ["admin"] });
  const { id, secret } = await here.create({ name: "Stolen", scopes: ["read", "admin"] });
  const steal = () =>
    Promise.all([
      elsewhere.ask("POST", "/keys", { name: "Mine" }, secret),
      elsewhere.ask("POST", `/keys/${other.id}/roll`, {}, secret),
      elsewhere.ask("POST", `/keys/${id}/roll`, {}, secret),
      elsewhere.ask("DELETE", `/keys/${other.id}`, undefined, secret),
    ]);
  expect(await elsewhere.status(secret)).toBe(200);
  await here.ask("POST", `/keys/${id}/roll`, { keep_seconds: 0 });
  const refused = { status: 401, answer: { kind: "token_invalid" } };
  expect(await steal()).toMatchObject([refused, refused, refused, refused]);
  await here.ask("DELETE", `/keys/${id}`);
  const gone = { status: 404, answer: { kind: "key_not_found" } };
  expect(await steal()).toMatchObject([refused, refused, gone, refused]);
  expect((await here.ask<ApiKey[]>("GET", "/keys")).answer.map((key) => key.id)).toEqual([other.id]);
  expect((await here.ask("GET", "/keys", undefined, other.secret)).status).toBe(200);
});

test("a key neither makes nor rolls one with scopes that it lacks", async () => {
  const { ask, create } = open();
  const all = await create({ name: "All", scopes: ["read", "write", "admin"] });
  const { secret: admin } = await create({ name: "Admin", scopes: ["admin"] });
  const { secret: reader } = await create({ name: "Reader", scopes: ["read", "admin"] });
  const forbidden = { status: 403, answer: { kind: "forbidden" } };
  for (const [by, scopes] of [
    [admin, ["read"]],
    [admin, undefined],
    [admin, ["admin", "write"]],
    [reader, ["read", "write"]],
  ] as const) {
    expect(await ask("POST", "/keys", { name: "More", scopes }, by)).toMatchObject(forbidden);
  }
  expect(await ask("POST", `/keys/${all.id}/roll`, {}, reader)).toMatchObject(forbidden);
  const scopesOf = async (body: object, by = reader) =>
    (await ask<NewApiKey>("POST", "/keys", body, by)).answer.scopes;
  expect(await scopesOf({ name: "As its maker", scopes: ["admin", "read"] })).toEqual(["admin", "read"]);
  expect(await scopesOf({ name: "The usual of its maker's" })).toEqual(["read"]);
  expect(await scopesOf({ name: "Admin too", scopes: ["admin"] }, admin)).toEqual(["admin"]);
});

test("a project has a maximum number of keys, and a deleted key frees its place", async () => {
  const { ask, create } = open({ keys: 2 });
  const { id } = await create({ name: "one" });
  await create({ name: "two" });
  const refused = await ask<{ message: string }>("POST", "/keys", { name: "three" });
  expect(refused).toMatchObject({ status: 403, answer: { kind: "forbidden" } });
  expect(refused.answer.message).toContain("may have 2 keys");
  expect((await ask("POST", "/keys", { name: "theirs" }, "other-key")).status).toBe(201);
  await ask("DELETE", `/keys/${id}`);
  expect((await ask("POST", "/keys", { name: "three" })).status).toBe(201);
});

test("four replaced secrets of a key are valid beside its current one, and no more", async () => {
  const { clock, ask, status, create } = open();
  const { id, secret } = await create({ name: "Often" });
  const secrets = [secret];
  for (let rolled = 0; rolled < 6; rolled++) {
    clock.now += 1000;
    secrets.push((await ask<NewApiKey>("POST", `/keys/${id}/roll`, {})).answer.secret);
  }
  expect(await Promise.all(secrets.map(status))).toEqual([401, 401, 200, 200, 200, 200, 200]);
});

test("a rolled key keeps its old secret for the requested time and stays one key in the list", async () => {
  const { clock, ask, status, create } = open();
  const { secret: first, ...key } = await create({ name: "Rolled", scopes: ["read", "read"] });
  expect(key.scopes).toEqual(["read"]);
  const rolled = await ask<NewApiKey>("POST", `/keys/${key.id}/roll`, { keep_seconds: 3600 });
  const { secret: second, ...same } = rolled.answer;
  expect([rolled.status, same]).toEqual([200, key]);
  expect(second).not.toBe(first);
  expect([await status(first), await status(second)]).toEqual([200, 200]);
  expect((await ask<ApiKey[]>("GET", "/keys")).answer.map(({ id }) => id)).toEqual([key.id]);
  // Another roll does not extend the first secret.
  clock.now += HOUR / 2;
  const { secret: third } = (await ask<NewApiKey>("POST", `/keys/${key.id}/roll`, {})).answer;
  clock.now = START + HOUR - 1;
  expect([await status(first), await status(second), await status(third)]).toEqual([200, 200, 200]);
  clock.now = START + HOUR;
  expect([await status(first), await status(second), await status(third)]).toEqual([401, 200, 200]);
  clock.now = START + HOUR / 2 + 24 * HOUR;
  expect([await status(second), await status(third)]).toEqual([401, 200]);
  await ask("DELETE", `/keys/${key.id}`);
  clock.now += HOUR;
  expect(await status(third)).toBe(401);
});

test("a roll without a grace period ends all earlier secrets", async () => {
  const { clock, ask, status, create } = open();
  const { id, secret: first } = await create({ name: "Leaked" });
  const { secret: second } = (await ask<NewApiKey>("POST", `/keys/${id}/roll`, {})).answer;
  const { secret: third } = (await ask<NewApiKey>("POST", `/keys/${id}/roll`, { keep_seconds: 0 })).answer;
  clock.now += 30_000;
  expect([await status(first), await status(second), await status(third)]).toEqual([401, 401, 200]);
});

test("shows the last use at once, and only on the key that was used", async () => {
  const { clock, ask, status, create } = open();
  const [used, unused] = [await create({ name: "Used" }), await create({ name: "Unused" })];
  clock.now += 1234;
  await status(used.secret);
  const listed = (await ask<ApiKey[]>("GET", "/keys?order=asc")).answer;
  expect(listed.map(({ id, last_used_at }) => [id, last_used_at])).toEqual([
    [used.id, START + 1234],
    [unused.id, null],
  ]);
});

test("lists keys newest first, in pages", async () => {
  const { clock, ask, create } = open();
  const ids: string[] = [];
  for (const name of ["one", "two", "three"]) {
    ids.unshift((await create({ name })).id);
    clock.now++;
  }
  const page = async (query: string) =>
    (await ask<ApiKey[]>("GET", `/keys?${query}`)).answer.map(({ id }) => id);
  expect(await page("")).toEqual(ids);
  expect(await page("limit=2")).toEqual(ids.slice(0, 2));
  expect(await page(`limit=2&after=${ids[1]}`)).toEqual([ids[2]]);
  expect(await page(`limit=1&before=${ids[2]}`)).toEqual([ids[1]]);
  expect(await page("order=asc&limit=1")).toEqual([ids[2]]);
  expect((await ask("GET", "/keys?status=active")).answer).toMatchObject({ param: "status" });
});

test("repeating a request with its Idempotency-Key creates no second key and hides the secret", async () => {
  const { ask } = open();
  const once = { "Idempotency-Key": "once" };
  const first = await ask<NewApiKey>("POST", "/keys", { name: "Once" }, "good-key", once);
  const { secret, ...key } = first.answer;
  expect([first.status, secret?.length]).toEqual([201, 73]);
  const repeat = await ask("POST", "/keys", { name: "Once" }, "good-key", once);
  expect(repeat).toEqual({ status: 200, answer: key });
  expect((await ask("GET", "/keys")).answer).toHaveLength(1);
});

test.each([
  { body: {}, param: "name" },
  { body: { name: "" }, param: "name" },
  { body: { name: "x".repeat(101) }, param: "name" },
  { body: { name: "two\nlines" }, param: "name" },
  { body: { name: "n", scopes: [] }, param: "scopes" },
  { body: { name: "n", scopes: "read" }, param: "scopes" },
  { body: { name: "n", scopes: ["root"] }, param: "scopes" },
  { body: { name: "n", project: "theirs" }, param: "project" },
])("rejects the key $body", async ({ body, param }) => {
  const { ask } = open();
  expect(await ask("POST", "/keys", body)).toMatchObject({
    status: 400,
    answer: { kind: "request_invalid", param },
  });
});

test.each([-1, 1.5, 604_801, "3600", null])("rejects a grace period of %j", async (keep_seconds) => {
  const { ask, create } = open();
  const { id } = await create({ name: "n" });
  expect(await ask("POST", `/keys/${id}/roll`, { keep_seconds })).toMatchObject({
    status: 400,
    answer: { kind: "request_invalid", param: "keep_seconds" },
  });
});
