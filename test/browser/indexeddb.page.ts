import assert from "node:assert/strict";
import { createIds } from "../../src/runs/ids.ts";
import type { ListQuery } from "../../src/runs/lists.ts";
import { createStep } from "../../src/runs/step.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import { openIndexedDb } from "../../src/stores/indexeddb.ts";
import { STORE_CONTRACT } from "../stores/contract.ts";
import { type Cases, casesOf } from "./cases.ts";

const id = createIds(() => 0.5);
const input = "https://example.com/clip.mov";
const task = (
  now: number,
  { kind = "video" as const, ...change }: Partial<Omit<Task, "options">> = {},
): Task => ({
  ...createTask({ input, kind, options: {}, metadata: {} }, id, now),
  ...change,
});
const name = () => `framewright-${crypto.randomUUID()}`;
const file = new File(["0123456789"], "digits ä.mp4", { type: "video/mp4", lastModified: 1_700_000_000_000 });
const facts = { name: file.name, size: 10, type: "video/mp4", fingerprint: "abc" };

/** Opens a database at a version with the plain browser API. */
function openRaw(
  database: string,
  version: number,
  upgrade: (db: IDBDatabase) => void,
): Promise<IDBDatabase> {
  const request = indexedDB.open(database, version);
  return new Promise((resolve, reject) => {
    request.onupgradeneeded = () => upgrade(request.result);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// Queries on seven tasks, numbered from the oldest: the tasks listed, and whether more follow.
const LISTS: [string, Partial<ListQuery> & { at?: number; until?: number }, number[], boolean][] = [
  ["newest first", {}, [6, 5, 4], true],
  ["oldest first", { order: "asc" }, [0, 1, 2], true],
  ["everything", { limit: 7 }, [6, 5, 4, 3, 2, 1, 0], false],
  ["after a cursor", { at: 4 }, [3, 2, 1], true],
  ["the last page after a cursor", { at: 2 }, [1, 0], false],
  ["nothing after the last record", { at: 0 }, [], false],
  ["before a cursor", { until: 1 }, [4, 3, 2], true],
  ["the first page before a cursor", { until: 4 }, [6, 5], false],
  ["after a cursor, oldest first", { order: "asc", at: 4 }, [5, 6], false],
  ["before a cursor, oldest first", { order: "asc", until: 4 }, [1, 2, 3], true],
  ["between two cursors", { at: 5, until: 2 }, [4, 3], false],
  ["nothing between two cursors in the wrong order", { at: 2, until: 5 }, [], false],
  ["by status", { status: "failed" }, [5, 3, 1], false],
  ["by status after a cursor", { status: "failed", at: 5, limit: 1 }, [3], true],
  ["by status before a cursor", { status: "failed", until: 1, limit: 1 }, [3], true],
  ["by status, oldest first", { status: "failed", order: "asc", limit: 2 }, [1, 3], true],
  ["nothing for a status that no task has", { status: "cancelled" }, [], false],
  ["by kind", { kind: "audio" }, [4, 0], false],
  ["by kind and status", { kind: "video", status: "queued" }, [6, 2], false],
];

/** The stores of a page. */
export const CASES: Cases = {
  ...casesOf(STORE_CONTRACT, async () => (await openIndexedDb({ name: name() })).tasks),
  ...Object.fromEntries(
    LISTS.map(([what, { at, until, ...query }, expected, more]) => [
      `lists ${what}`,
      async () => {
        const { tasks, steps } = await openIndexedDb({ name: name() });
        const all = Array.from({ length: 7 }, (_, n) =>
          task(1_795_170_600_000 + n, {
            status: n % 2 === 1 ? "failed" : "queued",
            kind: n % 4 === 0 ? "audio" : "video",
          }),
        );
        for (const record of all.toReversed()) await tasks.put(record);
        await steps.put(createStep({ kind: "probe", input: null, options: {} }, id, 1_795_170_600_000));
        const idOf = (n: number) => all[n]?.id ?? "";
        const page = await tasks.list({
          ...{ limit: 3, order: "desc", ...query },
          ...(at !== undefined && { after: idOf(at) }),
          ...(until !== undefined && { before: idOf(until) }),
        });
        assert.deepEqual(
          page.records.map((record) => all.findIndex((each) => each.id === record.id)),
          expected,
        );
        assert.equal(page.more, more);
        assert.deepEqual(page.records[0], all[expected[0] ?? -1]);
        assert.deepEqual(await tasks.all(), all);
      },
    ]),
  ),
  "lists a record by its current status": async () => {
    const { tasks } = await openIndexedDb({ name: name() });
    const record = task(1_795_170_600_000);
    await tasks.put(record);
    await tasks.put({ ...record, status: "processing" });
    const list = async (status: string) =>
      (await tasks.list({ limit: 9, order: "desc", status })).records.length;
    assert.deepEqual([await list("queued"), await list("processing")], [0, 1]);
  },
  "keeps the pieces of runs apart, whatever their values": async () => {
    const { pieces } = await openIndexedDb({ name: name() });
    const values = [{ a: [1, "é", null] }, "text", 0, null, undefined, new Uint8Array([1, 2])];
    for (const [n, value] of values.entries()) await pieces.put("task_1", `chunk ${n}`, value);
    await pieces.put("task_10", "chunk 0", "another");
    for (const [n, value] of values.entries()) {
      assert.deepEqual(await pieces.get("task_1", `chunk ${n}`), { value });
    }
    assert.equal(await pieces.get("task_1", "chunk 9"), null);
    await pieces.put("task_1", "chunk 0", "again");
    assert.deepEqual(await pieces.get("task_1", "chunk 0"), { value: "again" });
    await pieces.clear("task_1");
    assert.equal(await pieces.get("task_1", "chunk 0"), null);
    assert.deepEqual(await pieces.get("task_10", "chunk 0"), { value: "another" });
    await pieces.clear("task_none");
  },
  "keeps files and handles with their metadata": async () => {
    const database = name();
    const first = await openIndexedDb({ name: database });
    const origin = await navigator.storage.getDirectory();
    const handle = await origin.getFileHandle(`${database}.mp4`, { create: true });
    await first.inputs.put({ id: "task_1", file, ...facts, last_modified: file.lastModified });
    await first.inputs.put({ id: "task_2", file: handle, ...facts });
    await first.inputs.put({ id: "task_3", file: null, ...facts });
    first.close();
    const { inputs } = await openIndexedDb({ name: database });
    const input = await inputs.get("task_1");
    assert.ok(input?.file instanceof File);
    assert.deepEqual(
      [input.file.name, input.file.lastModified, await input.file.text()],
      [...[file.name, file.lastModified, "0123456789"]],
    );
    assert.deepEqual([input.fingerprint, input.last_modified, input.size], ["abc", file.lastModified, 10]);
    const other = (await inputs.get("task_2"))?.file;
    assert.ok(other instanceof FileSystemFileHandle && (await other.isSameEntry(handle)));
    assert.deepEqual(await inputs.get("task_3"), { id: "task_3", file: null, ...facts });
    await inputs.delete("task_1");
    assert.equal(await inputs.get("task_1"), null);
  },
  "migrates a database of the first version with all its records": async () => {
    const database = name();
    const [old, failed] = [task(1_795_170_600_000), task(1_795_170_600_001, { status: "failed" })];
    const step = createStep({ kind: "probe", input: null, options: {} }, id, 1_795_170_600_002);
    const raw = await openRaw(database, 1, (db) => {
      const tasks = db.createObjectStore("tasks", { keyPath: "id" });
      for (const record of [old, failed]) tasks.put(record);
      db.createObjectStore("steps", { keyPath: "id" }).put(step);
      const pieces = db.createObjectStore("pieces", { keyPath: ["run_id", "name"] });
      pieces.put({ run_id: old.id, name: "chunk 0", value: 7 });
    });
    raw.close();
    const stores = await openIndexedDb({ name: database });
    assert.deepEqual(await stores.tasks.all(), [old, failed]);
    const page = await stores.tasks.list({ limit: 5, order: "desc", status: "failed" });
    assert.deepEqual(page, { records: [failed], more: false });
    assert.deepEqual(await stores.steps.get(step.id), step);
    assert.deepEqual(await stores.pieces.get(old.id, "chunk 0"), { value: 7 });
    assert.deepEqual(await stores.jobs.all(), []);
    await stores.inputs.put({ id: old.id, file: null, ...facts });
    stores.close();
    const reopened = await openIndexedDb({ name: database });
    assert.equal((await reopened.inputs.get(old.id))?.size, 10);
  },
  "rejects a database of a newer version": async () => {
    const database = name();
    (await openRaw(database, 99, () => {})).close();
    await assert.rejects(openIndexedDb({ name: database }), {
      kind: "service_unavailable",
      retryable: false,
      message: "The stored data was written by a newer version of this page; reload the page.",
    });
  },
  "rejects a database that cannot be migrated, and leaves its version unchanged": async () => {
    const database = name();
    (await openRaw(database, 1, (db) => db.createObjectStore("inputs"))).close();
    await assert.rejects(openIndexedDb({ name: database }), {
      kind: "internal_error",
      message: "The stored data could not be upgraded; reload the page.",
    });
    assert.equal((await openRaw(database, 1, () => {})).version, 1);
  },
  "rejects calls after close()": async () => {
    const stores = await openIndexedDb({ name: name() });
    stores.close();
    stores.close();
    await assert.rejects(stores.tasks.all(), {
      kind: "service_unavailable",
      message: "The store of this page is closed.",
    });
  },
  "reports the deletion of the database, and rejects later calls": async () => {
    const database = name();
    const closed: string[] = [];
    const stores = await openIndexedDb({ name: database, onClosed: ({ message }) => closed.push(message) });
    await new Promise((resolve, reject) => {
      Object.assign(indexedDB.deleteDatabase(database), { onsuccess: resolve, onerror: reject });
    });
    const message = "The store of this page was deleted in another tab; reload this one.";
    assert.deepEqual(closed, [message]);
    await assert.rejects(stores.tasks.get("task_1"), { kind: "service_unavailable", message });
  },
};
