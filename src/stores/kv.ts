import type { Store } from "../runs/ports.ts";

/** The part of a key-value namespace that a store needs; Cloudflare's KV has this shape. */
export interface KvNamespace {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Options of {@link createKvStore}. */
export interface KvStoreOptions<T> {
  /** Prefix of every key, before the id, such as `task:`. */
  prefix: string;
  /** Validates a record that was read; throws when it is malformed. */
  parse(value: unknown): T;
}

/**
 * Creates a store of JSON records in a key-value namespace. Reads are as current as the namespace: Cloudflare's may lag by a
 * minute between locations.
 */
export function createKvStore<T extends { id: string }>(
  kv: KvNamespace,
  { prefix, parse }: KvStoreOptions<T>,
): Store<T> {
  return {
    async get(id) {
      const text = await kv.get(prefix + id);
      return text === null ? null : parse(JSON.parse(text));
    },
    async put(record) {
      await kv.put(prefix + record.id, JSON.stringify(record));
    },
    async delete(id) {
      await kv.delete(prefix + id);
    },
  };
}
