import type { Store } from "../runs/ports.ts";
import type { Step } from "../runs/step.ts";
import type { Task } from "../runs/task.ts";

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
