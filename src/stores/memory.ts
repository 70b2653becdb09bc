import type { Store } from "../core/ports.ts";
import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";

/** Creates a store in memory, lost with the process; records are copied on the way in and out. */
export function createMemoryStore<T extends { id: string } = Task | Step>(): Store<T> {
  const records = new Map<string, T>();
  return {
    async get(id) {
      const record = records.get(id);
      return record === undefined ? null : structuredClone(record);
    },
    async put(record) {
      records.set(record.id, structuredClone(record));
    },
    async delete(id) {
      records.delete(id);
    },
  };
}
