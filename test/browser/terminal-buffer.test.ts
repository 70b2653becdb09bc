import { expect, test } from "vitest";
import type { Run } from "../../src/browser/media-api.ts";
import { bufferTerminal, type RunStores } from "../../src/browser/media-worker/run-records.ts";
import { MediaError } from "../../src/media/errors.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createTask } from "../../src/runs/task.ts";
import { applyToTask } from "../../src/runs/transitions.ts";

const newId = createIds(() => 0.5);

/** Memory stores that can be made full, with one task in them. */
async function fullStores() {
  const rows = new Map<string, Run>();
  const room = { full: false, puts: 0 };
  const stores: RunStores = {
    get: async (_, id) => rows.get(id) ?? null,
    async put(record) {
      room.puts++;
      if (room.full) throw new MediaError("storage_full", "There is no room.");
      rows.set(record.id, record);
    },
    delete: async ({ id }) => void rows.delete(id),
    list: async () => ({ records: [...rows.values()], more: false }),
    all: async () => [...rows.values()],
    jobs: {
      ...{ get: async () => null, all: async () => [], put: async () => {}, delete: async () => {} },
      ...{ list: async () => ({ records: [], more: false }), create: async () => {} },
    },
    inputs: { get: async () => null, all: async () => [], put: async () => {}, delete: async () => {} },
    recordBytes: async () => 0,
    pieces: { get: async () => null, put: async () => {}, runs: async () => [], clear: async () => {} },
  };
  const task = createTask({ input: "file:a.mp4", kind: "video", options: {}, metadata: {} }, newId, 1);
  await stores.put(task);
  return {
    rows,
    room,
    held: bufferTerminal(stores),
    task,
    over: applyToTask(task, { type: "cancelled" }, 2),
  };
}

const ALL = { limit: 9, order: "desc" } as const;

test("holds the final record of a run until there is room, and serves it meanwhile", async () => {
  const { rows, room, held, task, over } = await fullStores();
  room.full = true;
  await held.put(over);
  expect(rows.get(task.id)).toEqual(task);
  expect(await held.get("task", task.id)).toEqual(over);
  expect(await held.all()).toEqual([over]);
  expect(await held.list("task", ALL)).toEqual({ records: [over], more: false });
  expect((await held.list("task", { ...ALL, status: "queued" })).records).toEqual([]);
  room.full = false;
  expect(await held.get("task", task.id)).toEqual(over);
  expect(rows.get(task.id)).toEqual(over);
  const { puts } = room;
  await held.get("task", task.id);
  expect(room.puts).toBe(puts);
});

test("drops a held record when it is deleted", async () => {
  const { room, held, task, over } = await fullStores();
  room.full = true;
  await held.put(over);
  await held.delete(over);
  room.full = false;
  expect(await held.get("task", task.id)).toBe(null);
});

test("rejects unfinished records when full, and any record when the store fails for another reason", async () => {
  const { room, held, task, over } = await fullStores();
  room.full = true;
  await expect(held.put({ ...task, updated_at: 3 })).rejects.toMatchObject({ kind: "storage_full" });
  const closed = new MediaError("service_unavailable", "The store is closed.");
  const broken = bufferTerminal({ ...held, put: () => Promise.reject(closed) });
  await expect(broken.put(over)).rejects.toBe(closed);
});
