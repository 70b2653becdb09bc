import { expect, test } from "vitest";
import { SCOPES } from "../../../src/runs/key.ts";
import { hashKey } from "../../../worker/auth/key-ring.ts";
import { createKeyTable } from "../../../worker/auth/key-table.ts";
import { createKeys, createUseNotes, NOTE_MS } from "../../../worker/auth/project-keys.ts";
import { asRemote } from "../api/as-remote.ts";
import { createMemorySql } from "../api/memory-connections.ts";

const START = 1_795_170_600_000;

test("stores a key's scopes and hash, and nothing that reveals its secret", async () => {
  const sql = createMemorySql();
  const table = createKeyTable(sql);
  const tables = () => [...sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'")];
  // A look-up of a forged key stores nothing.
  expect([table.find("hash", START), table.list(), table.revoke("key_1", null, START)]).toEqual([
    null,
    [],
    "unknown",
  ]);
  expect(tables()).toEqual([]);
  const keys = createKeys({
    home: () => asRemote(table),
    directory: () => ({ add: async () => {}, list: async () => [] }),
    live: async () => new Map(),
    maxKeys: 10,
    now: () => START,
  });
  const requester = { project: "p", scopes: SCOPES, hash: null };
  const { secret = "" } = await keys.create(requester, "key_1", { name: "n", scopes: ["read"] });
  const rolled = await keys.roll(requester, "key_1");
  const stored = JSON.stringify([
    ...sql.exec("SELECT * FROM api_key"),
    ...sql.exec("SELECT * FROM api_secret"),
  ]);
  expect(stored).toContain("key_1");
  for (const each of [secret, rolled.secret ?? ""]) {
    expect(stored).toContain(await hashKey(each));
    expect(stored).not.toContain(each.slice(24, 50));
  }
});

test("a repeated create or roll, whose answer was lost, leaves one key with one current secret", () => {
  const sql = createMemorySql();
  const table = createKeyTable(sql);
  const key = {
    id: "key_1",
    name: "n",
    project: "p",
    scopes: ["read" as const],
    created_at: 1,
    used_at: null,
  };
  const secrets = () => [...sql.exec("SELECT hash, expires_at FROM api_secret ORDER BY hash")];
  expect(table.create(key, "a", null, 1, START)).toBe("done");
  expect(table.create(key, "b", null, 1, START)).toBe("done");
  expect(secrets()).toEqual([{ hash: "b", expires_at: null }]);
  for (const _ of [1, 2]) expect(table.roll("key_1", "c", START + 9, null, START)).toBe("done");
  expect(secrets()).toEqual([
    { hash: "b", expires_at: START + 9 },
    { hash: "c", expires_at: null },
  ]);
});

test("notes a use only if the last note is old enough, and of no key of the settings", async () => {
  const noted: [string, number][] = [];
  const { note } = createUseNotes(async (id, at) => void noted.push([id, at]));
  const [one, two] = ["key_01kbb1d3x4e8v0t6m9q2y5z7av", "key_01kbb1d3x4e8v0t6m9q2y5z7aw"];
  await note(one, START);
  await note(one, START + NOTE_MS - 1);
  await note("key_0123456789ab", START);
  expect(noted).toEqual([[one, START]]);
  await note(one, START + NOTE_MS);
  await note(two, START);
  expect(noted.slice(1)).toEqual([
    [one, START + NOTE_MS],
    [two, START],
  ]);
});
