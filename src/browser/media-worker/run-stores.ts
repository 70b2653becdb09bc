import { type IndexedDbStores, openIndexedDb } from "../../stores/indexeddb.ts";
import { bufferTerminal, type RunStores } from "./terminal-buffer.ts";

/** Opens the stores; rejects with `service_unavailable` when the browser allows no database, or another tab blocks it. */
export async function openRunStores(name: string): Promise<RunStores> {
  const { tasks, steps, inputs, pieces, recordBytes }: IndexedDbStores = await openIndexedDb({ name });
  return bufferTerminal({
    get: (type, id) => (type === "task" ? tasks.get(id) : steps.get(id)),
    put: (record) => (record.object === "task" ? tasks.put(record) : steps.put(record)),
    delete: ({ object, id }) => (object === "task" ? tasks.delete(id) : steps.delete(id)),
    list: (type, query) => (type === "task" ? tasks.list(query) : steps.list(query)),
    all: async () => [...(await tasks.all()), ...(await steps.all())],
    inputs,
    pieces,
    recordBytes,
  });
}
