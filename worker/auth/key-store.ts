import { z } from "zod";
import { SCOPES, type Scope, USUAL_SCOPES } from "../../src/core/key.ts";

/** What is stored of a key, under `key:<SHA-256 of the key in hex>`, as value and as metadata. */
export const KeyRecord = z.object({
  id: z.string(),
  name: z.string(),
  project: z.string(),
  /** A key of a time before scopes has the usual ones. */
  scopes: z.array(z.enum(SCOPES)).default([...USUAL_SCOPES] as Scope[]),
  /** Milliseconds since the Unix epoch. */
  created_at: z.int(),
  /** Until when a secret is good that another has taken the place of. */
  expires_at: z.int().optional(),
});
/** What is stored of a key, under `key:<SHA-256 of the key in hex>`, as value and as metadata. */
export type KeyRecord = z.infer<typeof KeyRecord>;

/** A key's record and the hash that it is stored under. */
export interface StoredKey {
  hash: string;
  record: KeyRecord;
}

/** The keys of all projects. On Cloudflare a change may take a minute to be seen everywhere. */
export interface KeyStore {
  /** Returns the record of a hash; null when there is none or it is malformed. */
  get(hash: string): Promise<KeyRecord | null>;
  /** Stores a record; one that expires is removed then. */
  put(hash: string, record: KeyRecord): Promise<void>;
  delete(hash: string): Promise<void>;
  list(): Promise<StoredKey[]>;
  /** Returns when each key was last used, by id, as far as noted; in milliseconds since the Unix epoch. */
  uses(): Promise<ReadonlyMap<string, number>>;
}

/** The part of a KV namespace that keys need. */
export interface KeyNamespace {
  get(name: string, type: "json"): Promise<unknown>;
  put(name: string, value: string, options: KeyPut): Promise<void>;
  delete(name: string): Promise<void>;
  list(options: { prefix: string; cursor?: string }): Promise<KeyPage>;
}

/** How an entry is stored: its part in lists, and its lifetime in seconds. */
export interface KeyPut {
  metadata: object;
  expirationTtl?: number;
}

/** A page of a namespace's list. */
export interface KeyPage {
  keys: { name: string; metadata?: unknown }[];
  list_complete: boolean;
  cursor?: string;
}

const KEY = "key:";
const USE = "used:";
/** The shortest life of an entry in KV, in seconds. */
const LEAST_TTL = 60;
// The last use of a key that rested longer is of no interest.
const USE_TTL = 400 * 86_400;

/** Keeps keys in a KV namespace. */
export function createKeyStore(kv: KeyNamespace): KeyStore {
  async function entries(prefix: string): Promise<{ name: string; metadata?: unknown }[]> {
    const found: { name: string; metadata?: unknown }[] = [];
    for (let page: KeyPage | undefined; !page?.list_complete; ) {
      page = await kv.list({ prefix, ...(page?.cursor && { cursor: page.cursor }) });
      found.push(...page.keys);
    }
    return found.map(({ name, metadata }) => ({ name: name.slice(prefix.length), metadata }));
  }

  return {
    async get(hash) {
      return KeyRecord.safeParse(await kv.get(KEY + hash, "json")).data ?? null;
    },
    async put(hash, record) {
      const { expires_at } = record;
      const life =
        expires_at === undefined
          ? {}
          : { expirationTtl: Math.max(LEAST_TTL, Math.ceil((expires_at - Date.now()) / 1000)) };
      await kv.put(KEY + hash, JSON.stringify(record), { metadata: record, ...life });
    },
    delete: (hash) => kv.delete(KEY + hash),
    async list() {
      const all = await entries(KEY);
      return all.flatMap(({ name: hash, metadata }) => {
        const { data: record } = KeyRecord.safeParse(metadata);
        return record ? [{ hash, record }] : [];
      });
    },
    async uses() {
      const all = await entries(USE);
      const Use = z.object({ at: z.number() });
      return new Map(all.map(({ name, metadata }) => [name, Use.safeParse(metadata).data?.at ?? 0]));
    },
  };
}

/** Notes when a key was last used. */
export async function noteUse(kv: Pick<KeyNamespace, "put">, key_id: string, at: number): Promise<void> {
  await kv.put(USE + key_id, "", { metadata: { at }, expirationTtl: USE_TTL });
}
