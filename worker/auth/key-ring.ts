import { SCOPES, type Scope } from "../../src/runs/key.ts";
import { toHex } from "../../src/util/bytes.ts";
import * as errors from "../errors.ts";
import type { Remote } from "../network/durable-objects.ts";
import type { ListedKey } from "../settings.ts";
import type { KeyTable } from "./key-table.ts";

const PREFIX = "fw_live_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
// The lengths satisfy 62^16 > 2^95, 62^43 > 2^256 and 62^6 > 2^32.
const LOCATOR_LENGTH = 16;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const KEY = new RegExp(
  `^${PREFIX}(([0-9A-Za-z]{${LOCATOR_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

/** Returns the name of the object that stores a project's keys: a hash of the project, which each key contains. */
export async function locatorOf(project: string): Promise<string> {
  return toBase62((await digest(`keys of ${project}`)).subarray(0, 12), LOCATOR_LENGTH);
}

/**
 * Creates an API key: `fw_live_`, then in base 62 the locator of its project, 256 random bits and a checksum, which detects a mistyped
 * key without a lookup.
 */
export async function createKey(
  locator: string,
  random = crypto.getRandomValues(new Uint8Array(32)),
): Promise<string> {
  const secret = locator + toBase62(random, SECRET_LENGTH);
  return PREFIX + secret + (await checksum(secret));
}

/** Returns the locator in a key; null for a text that is not one of our keys or is mistyped. */
export async function readLocator(key: string): Promise<string | null> {
  const [, secret = "", locator = "", sum] = KEY.exec(key) ?? [];
  return sum !== undefined && sum === (await checksum(secret)) ? locator : null;
}

/** Returns the SHA-256 of a key in hex, which is stored instead of the key. */
export async function hashKey(key: string): Promise<string> {
  return toHex(await digest(key));
}

/** Returns the SHA-256 of a text. */
export async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Compares two digests in constant time. */
export function equalDigests(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}

async function checksum(secret: string): Promise<string> {
  return toBase62((await digest(PREFIX + secret)).subarray(0, 4), CHECKSUM_LENGTH);
}

function toBase62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${toHex(bytes)}`);
  let text = "";
  while (text.length < length) {
    text = ALPHABET[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text;
}

/** The id of an operator in logs. */
export const OPERATOR = "operator";

/** The owner of an API key. */
export interface Principal {
  /** Id of the key, for logs and limits: never the key itself. */
  id: string;
  /** The project that owns everything created with the key. */
  project: string;
  /** The permissions of the key. */
  scopes: readonly Scope[];
  /** Hash of the secret, which identifies it in its project's object; null for a key in the settings. */
  hash: string | null;
}

/** Authenticates API keys. */
export interface KeyRing {
  /** Returns the owner of a key, {@link OPERATOR} for an operator's key, which manages the keys of all projects; null for an unknown or expired key. */
  find(key: string): Promise<Principal | typeof OPERATOR | null>;
  /** Drops a changed key from the cache. */
  forget(id: string): void;
}

/** Dependencies of {@link createKeyRing}. */
export interface KeyRingTools {
  /** Returns the keys in the object of that name. */
  home(locator: string): Pick<Remote<KeyTable>, "find">;
  /** The keys of the settings, which have every scope. */
  apiKeys: readonly ListedKey[];
  /** Keys of operators. */
  operators: readonly string[];
  now(): number;
}

/**
 * Milliseconds for which an isolate caches a key. A revoked key is rejected within this time everywhere, and at once where it was
 * revoked. Changes of keys are always checked by the object itself.
 */
export const KEY_CACHE_MS = 5000;
const CACHE_SIZE = 1000;

/** Creates a key ring from the objects that store keys, and from the keys in the settings. */
export function createKeyRing({ home, apiKeys, operators, now }: KeyRingTools): KeyRing {
  const settingsKeys = Promise.all(
    apiKeys.map(async ({ key, project }) => {
      const hash = await digest(key);
      const id = `key_${toHex(hash).slice(0, 12)}`;
      const own = project ?? (await ownProject(key));
      return { hash, principal: { id, project: own, scopes: SCOPES, hash: null } satisfies Principal };
    }),
  );
  const operatorHashes = Promise.all(operators.map(digest));
  // Values, not promises: a request must not wait for another request's I/O.
  const cache = new Map<string, { principal: Principal; until: number }>();
  let changes = 0;

  async function lookUp(locator: string, hash: string): Promise<Principal | null> {
    const [lookup_at, before] = [now(), changes];
    const key = await home(locator)
      .find(hash, lookup_at)
      .catch((cause: unknown) => {
        throw errors.keyUnreadable({ cause });
      });
    if (!key) return null;
    const { id, project, scopes, expires_at } = key;
    const principal = { id, project, scopes, hash };
    if (changes !== before) return principal;
    if (cache.size >= CACHE_SIZE) cache.clear();
    cache.set(hash, { principal, until: Math.min(lookup_at + KEY_CACHE_MS, expires_at ?? Infinity) });
    return principal;
  }

  return {
    async find(key) {
      const hash = await digest(key);
      // Does not exit early, so that the timing does not reveal which entry matched.
      let match: Principal | typeof OPERATOR | null = null;
      for (const entry of await settingsKeys) if (equalDigests(entry.hash, hash)) match = entry.principal;
      for (const each of await operatorHashes) if (equalDigests(each, hash)) match = OPERATOR;
      if (match) return match;
      const name = toHex(hash);
      const cached = cache.get(name);
      if (cached && now() < cached.until) return cached.principal;
      cache.delete(name);
      const locator = await readLocator(key);
      return locator === null ? null : lookUp(locator, name);
    },
    forget(id) {
      changes++;
      for (const [hash, { principal }] of cache) if (principal.id === id) cache.delete(hash);
    },
  };
}

// Independent of the key's own digest, which must stay private.
async function ownProject(key: string): Promise<string> {
  return `proj_${toHex(await digest(`project:${key}`)).slice(0, 24)}`;
}
