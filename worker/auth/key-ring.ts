import { SCOPES, type Scope } from "../../src/core/key.ts";
import { toHex } from "../../src/util/bytes.ts";
import type { ListedKey } from "../settings/fields.ts";
import type { KeyStore } from "./key-store.ts";
import { digest, equalDigests, isPlausibleKey } from "./keys.ts";

/** Whom a key belongs to. */
export interface Principal {
  /** Id of the key, for logs and limits: never the key itself. */
  id: string;
  /** Everything that is made with the key belongs to this project. */
  project: string;
  /** What the key is allowed. */
  scopes: readonly Scope[];
}

/** Knows the API keys. */
export interface KeyRing {
  /** Returns the owner of a key; null for an unknown or expired one. */
  find(key: string): Promise<Principal | null>;
}

/** Milliseconds that a key found in the store is remembered: a removed key dies at most this much later. */
export const KEY_CACHE_MS = 30_000;
const CACHE_SIZE = 1000;

/** Creates a key ring from a store and the keys of the settings, which have every permission. */
export function createKeyRing(
  store: Pick<KeyStore, "get">,
  settled: readonly ListedKey[],
  now: () => number,
): KeyRing {
  const listed = settled.map(async ({ key, project }) => {
    const hash = await digest(key);
    const id = `key_${toHex(hash).slice(0, 12)}`;
    return { hash, principal: { id, project: project ?? (await ownProject(key)), scopes: SCOPES } };
  });
  const known = Promise.all(listed);
  const cache = new Map<string, { principal: Principal; until: number }>();
  return {
    async find(key) {
      const hash = await digest(key);
      // No early exit, so that the time taken does not reveal which entry matched.
      let match: Principal | null = null;
      for (const entry of await known) if (equalDigests(entry.hash, hash)) match = entry.principal;
      if (match) return match;
      const name = toHex(hash);
      const cached = cache.get(name);
      if (cached && now() < cached.until) return cached.principal;
      if (!(await isPlausibleKey(key))) return null;
      const record = await store.get(name);
      cache.delete(name);
      // An entry may be there a while longer than it is good.
      const { expires_at = Infinity } = record ?? {};
      if (!record || now() >= expires_at) return null;
      const { id, project, scopes } = record;
      const principal = { id, project, scopes };
      if (cache.size >= CACHE_SIZE) cache.clear();
      cache.set(name, { principal, until: Math.min(now() + KEY_CACHE_MS, expires_at) });
      return principal;
    },
  };
}

// Not part of the key's own digest, which stays private.
async function ownProject(key: string): Promise<string> {
  return `proj_${toHex(await digest(`project:${key}`)).slice(0, 24)}`;
}
