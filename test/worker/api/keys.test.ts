import { expect, test, vi } from "vitest";
import { createKeyRing, KEY_CACHE_MS } from "../../../worker/auth/key-ring.ts";
import type { KeyRecord } from "../../../worker/auth/key-store.ts";
import { createKey, equalDigests, hashKey, isPlausibleKey } from "../../../worker/auth/keys.ts";

test("a key is a prefix, 43 characters and a checksum of 6", async () => {
  const key = await createKey();
  expect(key).toMatch(/^fw_live_[0-9A-Za-z]{49}$/);
  expect(await createKey()).not.toBe(key);
  expect(await createKey(new Uint8Array(32))).toMatch(/^fw_live_0{43}/);
  expect(await createKey(new Uint8Array(32).fill(255))).toMatch(/^fw_live_[0-9A-Za-z]{49}$/);
});

test("the checksum catches every single wrong character and a wrong length", async () => {
  const key = await createKey();
  expect(await isPlausibleKey(key)).toBe(true);
  for (let i = 8; i < key.length; i++) {
    const letter = key[i] === "a" ? "b" : "a";
    expect(await isPlausibleKey(key.slice(0, i) + letter + key.slice(i + 1))).toBe(false);
  }
  expect(await isPlausibleKey(key.slice(0, -1))).toBe(false);
  expect(await isPlausibleKey(`${key}a`)).toBe(false);
  expect(await isPlausibleKey("fw_live_")).toBe(false);
  expect(await isPlausibleKey("somebody's own key")).toBe(true);
});

test("hashes a key with SHA-256", async () => {
  // https://www.di-mgt.com.au/sha_testvectors.html
  expect(await hashKey("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("digests are equal only if every byte is", () => {
  const a = new Uint8Array([1, 2, 3]);
  expect(equalDigests(a, new Uint8Array([1, 2, 3]))).toBe(true);
  for (const other of [[0, 2, 3], [1, 2, 4], [1, 2], [1, 2, 3, 0], []]) {
    expect(equalDigests(a, new Uint8Array(other))).toBe(false);
  }
});

const record: KeyRecord = { id: "key_1", name: "n", project: "p", scopes: ["read"], created_at: 1 };
const principal = { id: "key_1", project: "p", scopes: ["read"] };

test("caches a stored key for 30 seconds and never an unknown one", async () => {
  let now = 0;
  const get = vi.fn(async (_hash: string): Promise<KeyRecord | null> => record);
  const ring = createKeyRing({ get }, [], () => now);
  expect(await ring.find("key")).toEqual(principal);
  now = KEY_CACHE_MS - 1;
  expect(await ring.find("key")).toEqual(principal);
  expect(get.mock.calls).toEqual([[await hashKey("key")]]);
  now = KEY_CACHE_MS;
  get.mockResolvedValue(null);
  expect(await ring.find("key")).toBe(null);
  expect(await ring.find("key")).toBe(null);
  expect(get).toHaveBeenCalledTimes(3);
});

test("accepts a rolled key until it expires, even if the store still has it", async () => {
  let now = 0;
  const ring = createKeyRing({ get: async () => ({ ...record, expires_at: 5000 }) }, [], () => now);
  now = 4999;
  expect(await ring.find("key")).toEqual(principal);
  now = 5000;
  expect(await ring.find("key")).toBe(null);
});

test("looks up neither configured keys nor mistyped ones", async () => {
  const get = vi.fn(async () => record);
  const ring = createKeyRing({ get }, [{ key: "listed", project: null }], () => 0);
  expect(await ring.find("listed")).toMatchObject({
    project: expect.stringMatching(/^proj_[0-9a-f]{24}$/),
    scopes: ["read", "write", "admin"],
  });
  expect(await ring.find(`${await createKey()}x`)).toBe(null);
  expect(get).not.toHaveBeenCalled();
});

test("a configured key without a project always gets the same project of its own", async () => {
  const keys = ["a", "b"].map((key) => ({ key, project: null }));
  const ring = () => createKeyRing({ get: async () => null }, keys, () => 0);
  const a = await ring().find("a");
  expect(await ring().find("a")).toEqual(a);
  expect((await ring().find("b"))?.project).not.toBe(a?.project);
  expect(JSON.stringify(a)).not.toContain((await hashKey("a")).slice(0, 20));
});

test("caches at most a thousand keys", async () => {
  const get = vi.fn(async () => record);
  const ring = createKeyRing({ get }, [], () => 0);
  for (let i = 0; i < 1001; i++) await ring.find(`key${i}`);
  await ring.find("key1000");
  expect(get).toHaveBeenCalledTimes(1001);
  await ring.find("key0");
  expect(get).toHaveBeenCalledTimes(1002);
});
