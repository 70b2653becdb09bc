import { logFault } from "../observability/log.ts";
import { type KeyNamespace, noteUse } from "./key-store.ts";

/** Milliseconds between two notes of a key's last use. */
export const NOTE_MS = 300_000;

/** Creates notes of the last use of keys, written on first use here and then rarely: the store, the same as that of the keys, allows few writes. */
export function createUseNotes(kv: Pick<KeyNamespace, "put">) {
  const noted = new Map<string, number>();
  return {
    /** Notes a use, unless one was noted a short while ago. */
    async note(key_id: string, now: number): Promise<void> {
      if (now < (noted.get(key_id) ?? 0) + NOTE_MS) return;
      noted.set(key_id, now);
      try {
        await noteUse(kv, key_id, now);
      } catch (thrown) {
        noted.delete(key_id);
        logFault("last use not noted", thrown, { key_id });
      }
    },
  };
}
