import { isId } from "../../src/runs/ids.ts";
import { logFault } from "../observability/log.ts";

/** Milliseconds between two notes of a key's last use. */
export const NOTE_MS = 300_000;

/** Creates notes of the last use of keys, stored on first use here and then rarely. */
export function createUseNotes(store: (key_id: string, at: number) => Promise<void>) {
  const noted = new Map<string, number>();
  return {
    /** Notes a use, unless one was noted a short while ago or the key is one of the settings. */
    async note(key_id: string, now: number): Promise<void> {
      if (!isId("key", key_id) || now < (noted.get(key_id) ?? 0) + NOTE_MS) return;
      noted.set(key_id, now);
      try {
        await store(key_id, now);
      } catch (thrown) {
        noted.delete(key_id);
        logFault("last use not noted", thrown, { key_id });
      }
    },
  };
}
