import { expect, test } from "vitest";
import { type Connection, createConnection } from "../../../src/runs/connection.ts";
import { createIds } from "../../../src/runs/ids.ts";
import { createConnections } from "../../../worker/connections/connections.ts";
import { createSeal } from "../../../worker/connections/seal.ts";
import { createMemoryHome, createMemoryTable } from "../api/memory-connections.ts";

const id = createIds(Math.random);
const make = (name: string, more = {}): Connection =>
  createConnection(
    {
      name,
      kind: "s3",
      endpoint: "https://s3.example",
      region: "auto",
      access_key_id: "AK",
      secret_access_key: "not kept here",
      ...more,
    },
    id,
    1000,
  );

test("stores a secret sealed, and reseals it under the newest key when used", async () => {
  const table = createMemoryTable();
  const home = () => createMemoryHome(table);
  const connection = await createConnections(home, createSeal(["the first of the keys"])).create(
    "mine",
    make("one"),
    "wJalr/secret",
  );
  expect(JSON.stringify(table.get(connection.id))).not.toContain("wJalr");
  const seal = createSeal(["the second of the keys", "the first of the keys"]);
  const rotated = createConnections(home, seal);
  expect((await rotated.open("mine", connection.id)).secret_access_key).toBe("wJalr/secret");
  const alone = createConnections(home, createSeal(["the second of the keys"]));
  expect((await alone.open("mine", connection.id)).secret_access_key).toBe("wJalr/secret");
  await expect(
    createConnections(home, createSeal(["the first of the keys"])).open("mine", connection.id),
  ).rejects.toMatchObject({ kind: "service_unavailable" });
});

test("reencrypt reseals all secrets at once, so that older keys can go", async () => {
  const table = createMemoryTable();
  const home = () => createMemoryHome(table);
  const [OLDEST, OLD, NEW] = ["the first of the keys", "the second of the keys", "the third of the keys"];
  const oldest = createConnections(home, createSeal([OLDEST]));
  const ids: string[] = [];
  for (let n = 0; n < 103; n++) ids.push((await oldest.create("mine", make(`${n}`), `secret ${n}`)).id);
  const lost = await createConnections(home, createSeal(["a key that is gone"])).create(
    "mine",
    make("lost"),
    "x",
  );
  const second = createConnections(home, createSeal([OLD, OLDEST]));
  const late = await second.create("mine", make("late"), "late secret");

  const rotated = createConnections(home, createSeal([NEW, OLD, OLDEST]));
  const result = { object: "reencryption", connections: 105, failed: [lost.id] };
  expect(await rotated.reencrypt("mine")).toEqual({ ...result, reencrypted: 104 });
  expect(await rotated.reencrypt("mine")).toEqual({ ...result, reencrypted: 0 });

  const alone = createConnections(home, createSeal([NEW]));
  for (const [n, id] of ids.entries())
    expect((await alone.open("mine", id)).secret_access_key).toBe(`secret ${n}`);
  expect((await alone.open("mine", late.id)).secret_access_key).toBe("late secret");
});

test("a run keeps its connection when the default changes, and blocks its removal until released", async () => {
  const table = createMemoryTable();
  const connections = createConnections(() => createMemoryHome(table), createSeal(["a secret of the tests"]));
  const first = await connections.create("mine", make("first"), "one");
  expect(await connections.reserve("mine", "task_1")).toBe(true);
  const second = await connections.create("mine", make("second", { is_default: true }), "two");
  expect(await connections.reserve("mine", "task_2")).toBe(true);
  expect(await connections.reserve("mine", "task_3", first.id)).toBe(true);
  expect(await connections.reserve("mine", "task_4", "conn_unknown")).toBe(false);
  const used = async (run: string) => (await connections.openOf("mine", run))?.secret_access_key;
  expect([await used("task_1"), await used("task_2"), await used("task_3"), await used("task_4")]).toEqual([
    "one",
    "two",
    "one",
    undefined,
  ]);
  await expect(connections.remove("mine", first.id)).rejects.toMatchObject({ kind: "connection_in_use" });
  table.release("task_1");
  await expect(connections.remove("mine", first.id)).rejects.toMatchObject({ kind: "connection_in_use" });
  table.release("task_3");
  await connections.remove("mine", first.id);
  expect(await connections.get("mine", first.id)).toBeNull();
  expect((await connections.get("mine", second.id))?.is_default).toBe(true);
});

test("a connection stored before there were rules signs nothing", () => {
  const table = createMemoryTable();
  const { signing: _, ...old } = make("old");
  table.add({ connection: old as Connection, sealed: "x" });
  expect(table.get(old.id)?.connection.signing).toEqual([]);
});

test("a reservation for a run that was never created expires", () => {
  const table = createMemoryTable();
  const { id } = table.add({ connection: make("one"), sealed: "x" });
  table.reserve("task_never", null, 5000);
  expect(table.remove(id, 5000 + 59_000)).toBe("in_use");
  expect(table.remove(id, 5000 + 61_000)).toBe("removed");
});

test("resealing does not overwrite a secret that was changed meanwhile", () => {
  const table = createMemoryTable();
  const { id } = table.add({ connection: make("one"), sealed: "old" });
  table.change(id, {}, "changed", 2000);
  table.reseal(id, "old", "old, resealed");
  expect(table.get(id)?.sealed).toBe("changed");
});
