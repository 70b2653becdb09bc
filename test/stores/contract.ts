import assert from "node:assert/strict";
import { createIds } from "../../src/runs/ids.ts";
import type { Store } from "../../src/runs/ports.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import type { Clause } from "../fixtures/contract.ts";

const id = createIds(() => 0.5);
const task = (now: number, metadata: Record<string, unknown> = {}) =>
  createTask({ input: "https://example.com/clip.mov", kind: "video", options: {}, metadata }, id, now);

/** The contract of every store. */
export const STORE_CONTRACT: Clause<Store<Task>>[] = [
  {
    name: "returns a record with every field it was stored with",
    async check(store) {
      const record = task(1_795_170_600_000, {
        deep: { list: [1, "two", null, true], text: 'é 日本 \u0000 "' },
      });
      await store.put(record);
      assert.deepEqual(await store.get(record.id), record);
    },
  },
  {
    name: "returns null for an unknown id",
    async check(store) {
      assert.equal(await store.get("task_none"), null);
    },
  },
  {
    name: "keeps the later of two records of an id",
    async check(store) {
      const record = task(1_795_170_600_001);
      await store.put(record);
      await store.put({ ...record, status: "processing", updated_at: record.updated_at + 1 });
      assert.equal((await store.get(record.id))?.status, "processing");
    },
  },
  {
    name: "keeps records apart",
    async check(store) {
      const [one, two] = [task(1_795_170_600_002), task(1_795_170_600_003)];
      await store.put(one);
      await store.put(two);
      await store.delete(one.id);
      assert.equal(await store.get(one.id), null);
      assert.deepEqual(await store.get(two.id), two);
    },
  },
  {
    name: "ignores deleting a missing record",
    async check(store) {
      await store.delete("task_none");
    },
  },
  {
    name: "stores a copy, independent of the caller's object and of those it returns",
    async check(store) {
      const record = task(1_795_170_600_004, { tag: "first" });
      await store.put(record);
      record.metadata.tag = "changed";
      const returned = await store.get(record.id);
      assert.equal(returned?.metadata.tag, "first");
      if (returned) returned.metadata.tag = "changed too";
      assert.equal((await store.get(record.id))?.metadata.tag, "first");
    },
  },
];
