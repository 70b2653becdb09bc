import { MediaError } from "../core/errors.ts";
import { isFinished } from "../core/transitions.ts";
import type { Run } from "./media-api.ts";
import type { RunStores } from "./run-stores.ts";

/**
 * Gives stores that never refuse the end of a run for want of room, so that nobody waits for it in vain: it is held in memory until there is
 * some. If its page is closed before, the run is found as it was stored, and goes on.
 */
export function holdEnds(stores: RunStores): RunStores {
  const held = new Map<string, Run>();

  async function put(record: Run): Promise<void> {
    try {
      await stores.put(record);
      held.delete(record.id);
    } catch (thrown) {
      if (!isFull(thrown) || !isFinished(record)) throw thrown;
      held.set(record.id, record);
    }
  }

  // One at a time, and no further than there is room.
  async function store(): Promise<void> {
    for (const record of held.values()) {
      await put(record);
      if (held.has(record.id)) return;
    }
  }

  const current = <T extends Run>(record: T): T => (held.get(record.id) as T | undefined) ?? record;

  return {
    ...stores,
    put,
    async get(sort, id) {
      await store();
      return held.get(id) ?? stores.get(sort, id);
    },
    async delete(record) {
      held.delete(record.id);
      await stores.delete(record);
    },
    async list(sort, query) {
      await store();
      const page = await stores.list(sort, query);
      const records = page.records.map(current);
      const { status } = query;
      return { ...page, records: records.filter((each) => status === undefined || each.status === status) };
    },
    all: async () => (await stores.all()).map(current),
  };
}

function isFull(thrown: unknown): boolean {
  return thrown instanceof MediaError && thrown.kind === "storage_full";
}
