import { MediaError } from "../../src/core/errors.ts";
import {
  type ApiKey,
  KEY_BOUNDS,
  type KeyRequest,
  type NewApiKey,
  USUAL_SCOPES,
} from "../../src/core/key.ts";
import type { KeyRecord, KeyStore, StoredKey } from "./key-store.ts";
import { createKey, hashKey } from "./keys.ts";

/** The keys of one project; those of the setting `API_KEYS` are not among them. Ids of other projects are unknown. */
export interface Keys {
  /** Creates a key with that id; only this answer has its secret. */
  create(project: string, id: string, request: KeyRequest): Promise<NewApiKey>;
  /** Returns the keys, in any order. */
  list(project: string): Promise<ApiKey[]>;
  /** Returns a key; rejects with `key_not_found`. */
  get(project: string, id: string): Promise<ApiKey>;
  /** Replaces the secret of a key; the old one stays valid for a while. Rejects with `key_not_found`. */
  roll(project: string, id: string, keep_seconds?: number): Promise<NewApiKey>;
  /** Revokes a key with all its secrets; rejects with `key_not_found`. */
  revoke(project: string, id: string): Promise<void>;
}

/** Creates the keys over their store. `live` returns last uses that the store may not have yet. */
export function createKeys(
  store: KeyStore,
  now: () => number,
  live: (project: string) => Promise<ReadonlyMap<string, number>> = async () => new Map(),
): Keys {
  async function load(project: string): Promise<{ secrets: StoredKey[]; keys: ApiKey[] }> {
    const [all, noted, latest] = await Promise.all([store.list(), store.uses(), live(project)]);
    const secrets = all.filter(({ record }) => record.project === project);
    // Two simultaneous rolls leave two secrets that do not expire, but it is still one key.
    const current = secrets.filter(({ record }) => record.expires_at === undefined);
    const byId = new Map(current.map(({ record }) => [record.id, record]));
    const keys = [...byId.values()].map((record) =>
      toApiKey(record, latest.get(record.id) ?? noted.get(record.id) ?? null),
    );
    return { secrets, keys };
  }

  async function find(project: string, id: string): Promise<{ secrets: StoredKey[]; key: ApiKey }> {
    const { secrets, keys } = await load(project);
    const key = keys.find((each) => each.id === id);
    if (key) return { secrets: secrets.filter(({ record }) => record.id === id), key };
    throw new MediaError("key_not_found", "There is no key with that id.");
  }

  async function give(record: KeyRecord): Promise<string> {
    const secret = await createKey();
    await store.put(await hashKey(secret), record);
    return secret;
  }

  return {
    async create(project, id, { name, scopes = [...USUAL_SCOPES] }) {
      const record = { id, name, project, scopes: [...new Set(scopes)], created_at: now() };
      return { ...toApiKey(record, null), secret: await give(record) };
    },
    list: async (project) => (await load(project)).keys,
    get: async (project, id) => (await find(project, id)).key,
    async roll(project, id, keep_seconds = KEY_BOUNDS.keep_seconds.default) {
      const { secrets, key } = await find(project, id);
      const { name, scopes, created_at } = key;
      const record = { id, name, project, scopes, created_at };
      const secret = await give(record);
      const expires_at = now() + keep_seconds * 1000;
      // A secret that already expires keeps its time, unless this roll ends it sooner.
      for (const { hash, record: old } of secrets) {
        if ((old.expires_at ?? Infinity) <= expires_at) continue;
        if (keep_seconds === 0) await store.delete(hash);
        else await store.put(hash, { ...record, expires_at });
      }
      return { ...key, secret };
    },
    async revoke(project, id) {
      for (const { hash } of (await find(project, id)).secrets) await store.delete(hash);
    },
  };
}

function toApiKey({ id, name, scopes, created_at }: KeyRecord, last_used_at: number | null): ApiKey {
  return { id, object: "key", name, scopes, created_at, last_used_at };
}
