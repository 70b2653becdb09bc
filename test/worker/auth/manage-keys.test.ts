import { expect, test } from "vitest";
import type { ApiKey, NewApiKey } from "../../../src/core/key.ts";
import { createKeyRing } from "../../../worker/auth/key-ring.ts";
import { createKeyStore } from "../../../worker/auth/key-store.ts";
import { hashKey } from "../../../worker/auth/keys.ts";
import { createKeys } from "../../../worker/auth/manage-keys.ts";
import { createUseNotes, NOTE_MS } from "../../../worker/auth/use-notes.ts";
import { createMemoryApi } from "../api/memory-api.ts";
import { createMemoryNamespace } from "../api/memory-keys.ts";

const START = 1_795_170_600_000;
const HOUR = 3_600_000;

function open() {
  const clock = { now: START };
  const { app } = createMemoryApi({}, {}, { now: () => clock.now });
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
  const made = await create({ name: "Web shop" });
  const { secret, ...key } = made;
  expect(key).toEqual({
    ...{ id: expect.stringMatching(/^key_[0-9a-z]{26}$/), object: "key", name: "Web shop" },
    ...{ scopes: ["read", "write"], created_at: START, last_used_at: null },
  });
  expect(secret).toMatch(/^fw_live_[0-9A-Za-z]{49}$/);
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

test("a revoked key that was just used stops working within 30 seconds", async () => {
  const { clock, ask, status, create } = open();
  const { id, secret } = await create({ name: "Used" });
  expect(await status(secret)).toBe(200);
  await ask("DELETE", `/keys/${id}`);
  clock.now += 30_000;
  expect(await status(secret)).toBe(401);
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
  expect([first.status, secret?.length]).toEqual([201, 57]);
  const again = await ask("POST", "/keys", { name: "Once" }, "good-key", once);
  expect(again).toEqual({ status: 200, answer: key });
  expect((await ask("GET", "/keys")).answer).toHaveLength(1);
});

test.each([
  [{}, "name"],
  [{ name: "" }, "name"],
  [{ name: "x".repeat(101) }, "name"],
  [{ name: "two\nlines" }, "name"],
  [{ name: "n", scopes: [] }, "scopes"],
  [{ name: "n", scopes: "read" }, "scopes"],
  [{ name: "n", scopes: ["root"] }, "scopes"],
  [{ name: "n", project: "theirs" }, "project"],
])("rejects the key %j", async (body, param) => {
  const { ask } = open();
  expect(await ask("POST", "/keys", body)).toMatchObject({
    ...{ status: 400, answer: { kind: "request_invalid", param } },
  });
});

test.each([-1, 1.5, 604_801, "3600", null])("rejects a grace period of %j", async (keep_seconds) => {
  const { ask, create } = open();
  const { id } = await create({ name: "n" });
  expect(await ask("POST", `/keys/${id}/roll`, { keep_seconds })).toMatchObject({
    ...{ status: 400, answer: { kind: "request_invalid", param: "keep_seconds" } },
  });
});

test("a key from before scopes reads and writes but manages nothing", async () => {
  const kv = createMemoryNamespace();
  const record = { id: "key_1", name: "old", project: "p", created_at: 1 };
  await kv.put(`key:${await hashKey("old-key")}`, JSON.stringify(record), { metadata: record });
  const store = createKeyStore(kv);
  const ring = createKeyRing(store, [], () => 0);
  expect(await ring.find("old-key")).toEqual({ id: "key_1", project: "p", scopes: ["read", "write"] });
  expect((await store.list())[0]?.record.scopes).toEqual(["read", "write"]);
});

test("nothing stored about a key reveals its secret", async () => {
  const kv = createMemoryNamespace();
  const keys = createKeys(createKeyStore(kv), () => START);
  const { secret = "" } = await keys.create("p", "key_1", { name: "n" });
  const rolled = await keys.roll("p", "key_1");
  const stored = JSON.stringify([...kv.entries]);
  expect(stored).toContain("key_1");
  for (const each of [secret, rolled.secret ?? ""]) expect(stored).not.toContain(each.slice(8, 40));
});

test("notes a use only if the last note is old enough", async () => {
  const kv = createMemoryNamespace();
  const { note } = createUseNotes(kv);
  const noted = async () => [...(await createKeyStore(kv).uses())];
  await note("key_1", START);
  await note("key_1", START + NOTE_MS - 1);
  expect(await noted()).toEqual([["key_1", START]]);
  await note("key_1", START + NOTE_MS);
  await note("key_2", START);
  expect(await noted()).toEqual([
    ["key_1", START + NOTE_MS],
    ["key_2", START],
  ]);
});
