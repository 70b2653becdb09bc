import { expect, test, vi } from "vitest";
import {
  createKey,
  createKeyRing,
  equalDigests,
  hashKey,
  KEY_CACHE_MS,
  locatorOf,
  OPERATOR,
  readLocator,
} from "../../../worker/auth/key-ring.ts";
import type { KeyMatch } from "../../../worker/auth/key-table.ts";
import type { ListedKey } from "../../../worker/settings.ts";

const LOCATOR = await locatorOf("p");

test("a key is a prefix, a locator of 16 characters, 43 more and a checksum of 6", async () => {
  expect(LOCATOR).toMatch(/^[0-9A-Za-z]{16}$/);
  expect(await locatorOf("q")).not.toBe(LOCATOR);
  const key = await createKey(LOCATOR);
  expect(key).toMatch(new RegExp(`^fw_live_${LOCATOR}[0-9A-Za-z]{49}$`));
  expect(await createKey(LOCATOR)).not.toBe(key);
  expect(await createKey(LOCATOR, new Uint8Array(32))).toMatch(new RegExp(`^fw_live_${LOCATOR}0{43}`));
  expect(await createKey(LOCATOR, new Uint8Array(32).fill(255))).toMatch(/^fw_live_[0-9A-Za-z]{65}$/);
});

test("the checksum catches every single wrong character and a wrong length", async () => {
  const key = await createKey(LOCATOR);
  expect(await readLocator(key)).toBe(LOCATOR);
  for (let i = 8; i < key.length; i++) {
    const letter = key[i] === "a" ? "b" : "a";
    expect(await readLocator(key.slice(0, i) + letter + key.slice(i + 1))).toBe(null);
  }
  for (const wrong of [key.slice(0, -1), `${key}a`, "fw_live_", "somebody's own key", ""])
    expect(await readLocator(wrong)).toBe(null);
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

const record: KeyMatch = {
  id: "key_1",
  name: "n",
  project: "p",
  scopes: ["read"],
  created_at: 1,
  used_at: null,
  expires_at: null,
};

function open(match: KeyMatch | null, apiKeys: ListedKey[] = []) {
  const clock = { now: 0 };
  const find = vi.fn(async (_hash: string, _now: number): Promise<KeyMatch | null> => match);
  const home = vi.fn((_locator: string) => ({ find }));
  const ring = createKeyRing({ home, apiKeys, operators: ["op"], now: () => clock.now });
  return { ring, find, home, clock };
}

test("remembers a stored key for 5 seconds and never an unknown one", async () => {
  const { ring, find, home, clock } = open(record);
  const key = await createKey(LOCATOR);
  const hash = await hashKey(key);
  const principal = { id: "key_1", project: "p", scopes: ["read"], hash };
  expect(await ring.find(key)).toEqual(principal);
  clock.now = KEY_CACHE_MS - 1;
  expect(await ring.find(key)).toEqual(principal);
  expect([KEY_CACHE_MS, home.mock.calls, find.mock.calls]).toEqual([5000, [[LOCATOR]], [[hash, 0]]]);
  clock.now = KEY_CACHE_MS;
  find.mockResolvedValue(null);
  expect([await ring.find(key), await ring.find(key)]).toEqual([null, null]);
  expect(find).toHaveBeenCalledTimes(3);
});

test("accepts a rolled key until it expires, though it is remembered", async () => {
  const { ring, find, clock } = open({ ...record, expires_at: 3000 });
  const key = await createKey(LOCATOR);
  expect(await ring.find(key)).toMatchObject({ id: "key_1" });
  clock.now = 2999;
  expect(await ring.find(key)).toMatchObject({ id: "key_1" });
  expect(find).toHaveBeenCalledTimes(1);
  clock.now = 3000;
  find.mockResolvedValue(null);
  expect(await ring.find(key)).toBe(null);
});

test("looks a forgotten key up again, even one that was being looked up", async () => {
  const { ring, find } = open(record);
  const key = await createKey(LOCATOR);
  await ring.find(key);
  ring.forget("key_2");
  await ring.find(key);
  expect(find).toHaveBeenCalledTimes(1);
  ring.forget("key_1");
  find.mockImplementationOnce(async () => {
    ring.forget("key_1");
    return record;
  });
  expect(await ring.find(key)).toMatchObject({ id: "key_1" });
  find.mockResolvedValue(null);
  expect(await ring.find(key)).toBe(null);
});

test("a failed look-up is no verdict on the key, and is not remembered", async () => {
  const { ring, find } = open(record);
  const key = await createKey(LOCATOR);
  find.mockRejectedValueOnce(new Error("overloaded"));
  await expect(ring.find(key)).rejects.toMatchObject({ kind: "service_unavailable" });
  expect(await ring.find(key)).toMatchObject({ id: "key_1" });
});

test("looks up neither configured keys nor mistyped or foreign ones", async () => {
  const { ring, home } = open(record, [{ key: "listed", project: null }]);
  expect(await ring.find("listed")).toMatchObject({
    project: expect.stringMatching(/^proj_[0-9a-f]{24}$/),
    hash: null,
    scopes: expect.arrayContaining(["read", "write", "admin"]),
  });
  for (const wrong of [`${await createKey(LOCATOR)}x`, "foreign", `fw_live_${"0".repeat(49)}`])
    expect(await ring.find(wrong)).toBe(null);
  expect(await ring.find("op")).toBe(OPERATOR);
  expect(home).not.toHaveBeenCalled();
});

test("a configured key without a project always gets the same project of its own", async () => {
  const keys = ["a", "b"].map((key) => ({ key, project: null }));
  const ring = () => open(null, keys).ring;
  const a = await ring().find("a");
  expect(await ring().find("a")).toEqual(a);
  const b = await ring().find("b");
  const projects = [a, b].map((match) => (match === OPERATOR ? match : match?.project));
  expect(new Set(projects).size).toBe(2);
  expect(JSON.stringify(a)).not.toContain((await hashKey("a")).slice(0, 20));
});

test("remembers at most a thousand keys", async () => {
  const { ring, find } = open(record);
  const keys = await Promise.all(Array.from({ length: 1001 }, () => createKey(LOCATOR)));
  for (const key of keys) await ring.find(key);
  await ring.find(keys.at(-1) ?? "");
  expect(find).toHaveBeenCalledTimes(1001);
  await ring.find(keys[0] ?? "");
  expect(find).toHaveBeenCalledTimes(1002);
});
