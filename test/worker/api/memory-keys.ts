import { createKeyRing } from "../../../worker/auth/key-ring.ts";
import { createKeyStore, type KeyNamespace } from "../../../worker/auth/key-store.ts";
import { createKeys } from "../../../worker/auth/manage-keys.ts";
import { createRateLimiter } from "../../../worker/limits/rate-limiter.ts";
import { createUsage, type Usage } from "../../../worker/limits/usage.ts";
import type { Services } from "../../../worker/services.ts";
import { readSettings } from "../../../worker/settings/read.ts";
import { ServiceSettings } from "../../../worker/settings/schema.ts";

/** Limits and clock of the in-memory API, which is practically unlimited by default. */
export interface MemoryLimits {
  requests?: number;
  creations?: number;
  /** Runs of a key that may wait; in memory nothing ever runs. */
  waiting?: number;
  now?: () => number;
}

const MANY = 1_000_000;

/** Keeps keys and their limits as the service does, in memory. */
export function createMemoryKeys(
  listed: string,
  { requests = MANY, creations = MANY, waiting = MANY, now = Date.now }: MemoryLimits = {},
): Pick<Services, "keys" | "managed_keys" | "limits"> {
  const { API_KEYS = [] } = readSettings(ServiceSettings, { API_KEYS: listed, MEDIA_SIGNING_KEY: "-" });
  let taken = 0;
  const store = createKeyStore(createMemoryNamespace());
  const usages = new Map<string, Usage>();
  const usageOf = (project: string) => {
    const usage = usages.get(project) ?? createUsage();
    usages.set(project, usage);
    return usage;
  };
  return {
    keys: createKeyRing(store, API_KEYS, now),
    managed_keys: createKeys(store, now, async (project) => usageOf(project).lastUses()),
    limits: {
      rate: createRateLimiter({
        limits: { requests, creations },
        home: (project) => ({ countUse: async (key_id, use) => usageOf(project).add(key_id, use, now()) }),
        later: (_, work) => void work(),
        now,
      }),
      room: { most: waiting, take: async () => taken++ < waiting },
    },
  };
}

/** An in-memory namespace whose entries never expire. */
export function createMemoryNamespace(): KeyNamespace & { entries: Map<string, string> } {
  const entries = new Map<string, string>();
  const metadata = new Map<string, object>();
  return {
    entries,
    get: async (name) => JSON.parse(entries.get(name) ?? "null"),
    async put(name, value, options) {
      entries.set(name, value);
      metadata.set(name, options.metadata);
    },
    delete: async (name) => void entries.delete(name),
    list: async ({ prefix }) => ({
      keys: [...entries.keys()]
        .filter((name) => name.startsWith(prefix))
        .map((name) => ({ name, metadata: metadata.get(name) })),
      list_complete: true,
    }),
  };
}
