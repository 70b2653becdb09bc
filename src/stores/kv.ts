import type { Store } from "../core/ports.ts";

/** The part of a key-value namespace that a store needs; Cloudflare's KV has this shape. */
export interface KvNamespace {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/** How records are kept in a namespace. */
export interface KvStoreOptions<T> {
  /** Comes before the id in every key, such as `task:`. */
  prefix: string;
  /** Checks what was read; it throws for what is no record. */
  parse(value: unknown): T;
}

/** A store of JSON in a key-value namespace, as current as the namespace is: Cloudflare's may lag by a minute between places. */
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
