import { z } from "zod";
import { digest, equalDigests, isPlausibleKey, toHex } from "./keys.ts";

/** Whom a key belongs to. */
export interface Principal {
  /** Id of the key, for logs: never the key itself. */
  id: string;
  /** Everything that is made with the key belongs to this project. */
  project: string;
}

/** Knows the API keys. */
export interface KeyRing {
  /** Gives whom a key belongs to; null for an unknown key. */
  find(key: string): Promise<Principal | null>;
}

/** What is stored of a key, under `key:<SHA-256 of the key in hex>`. */
export const KeyRecord = z.object({
  id: z.string(),
  name: z.string(),
  project: z.string(),
  /** Milliseconds since the Unix epoch. */
  created_at: z.int(),
});
/** What is stored of a key, under `key:<SHA-256 of the key in hex>`. */
export type KeyRecord = z.infer<typeof KeyRecord>;

/** Reads JSON by key: the part of a KV namespace that keys need. */
export interface KeyStore {
  get(key: string, type: "json"): Promise<unknown>;
}

/** Milliseconds that a key found in the store is remembered: a removed key dies at most this much later. */
export const KEY_CACHE_MS = 30_000;
const CACHE_SIZE = 1000;

/** Builds a key ring over a store and a list of keys from the environment, comma-separated `KEY` or `PROJECT:KEY`. */
export function createKeyRing(store: KeyStore, bootstrap: string, now: () => number): KeyRing {
  const listed = parseKeys(bootstrap).map(async ({ key, project }) => {
    const hash = await digest(key);
    const id = `key_${toHex(hash).slice(0, 12)}`;
    return { hash, principal: { id, project: project ?? (await ownProject(key)) } };
  });
  const known = Promise.all(listed);
  const cache = new Map<string, { principal: Principal; until: number }>();
  return {
    async find(key) {
      const hash = await digest(key);
      // No early exit, so that the time taken does not tell which entry it was.
      let match: Principal | null = null;
      for (const entry of await known) if (equalDigests(entry.hash, hash)) match = entry.principal;
      if (match) return match;
      const name = toHex(hash);
      const cached = cache.get(name);
      if (cached && now() < cached.until) return cached.principal;
      if (!(await isPlausibleKey(key))) return null;
      const record = KeyRecord.safeParse(await store.get(`key:${name}`, "json"));
      cache.delete(name);
      if (!record.success) return null;
      const principal = { id: record.data.id, project: record.data.project };
      if (cache.size >= CACHE_SIZE) cache.clear();
      cache.set(name, { principal, until: now() + KEY_CACHE_MS });
      return principal;
    },
  };
}

/** Parses a comma-separated list of `KEY` or `PROJECT:KEY`; throws for an entry without a key or with a project of wrong shape. */
export function parseKeys(text: string): { key: string; project: string | null }[] {
  const entries = text.split(",").map((entry) => entry.trim());
  return entries.flatMap((entry, index) => {
    if (entry === "") return [];
    const colon = entry.indexOf(":");
    const project = colon < 0 ? null : entry.slice(0, colon);
    const key = entry.slice(colon + 1);
    if (!/^[\x21-\x7e]+$/.test(key) || (project !== null && !/^[\w-]{1,64}$/.test(project))) {
      throw new Error(`API_KEYS: entry ${index + 1} must be KEY or PROJECT:KEY.`);
    }
    return [{ key, project }];
  });
}

// Not part of the key's own digest, which stays private.
async function ownProject(key: string): Promise<string> {
  return `proj_${toHex(await digest(`project:${key}`)).slice(0, 24)}`;
}
