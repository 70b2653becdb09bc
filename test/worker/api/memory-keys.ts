import { createKeyRing } from "../../../worker/auth/key-ring.ts";
import { createKeyTable, type KeyTable } from "../../../worker/auth/key-table.ts";
import { createKeys } from "../../../worker/auth/project-keys.ts";
import { createRateLimiter, createUsage, type Usage } from "../../../worker/limits/rate-limiter.ts";
import type { Services } from "../../../worker/services.ts";
import { readSettings, ServiceSettings } from "../../../worker/settings.ts";
import { asRemote } from "./as-remote.ts";
import { createMemorySql } from "./memory-connections.ts";

/** Limits and clock of the in-memory API, which is practically unlimited by default. */
export interface MemoryLimits {
  requests?: number;
  creations?: number;
  /** Runs of a key that may wait; in memory nothing ever runs. */
  waiting?: number;
  /** Keys of one project. */
  keys?: number;
  now?: () => number;
  /** The tables of keys; empty by default. APIs that share them are instances of one service. */
  homes?: KeyHomes;
}

const MANY = 1_000_000;

/** The tables of keys by the name of their object. */
type KeyHomes = (locator: string) => KeyTable;

/** Keeps the keys of each project in an in-memory SQLite. */
export function createKeyHomes(): KeyHomes {
  const tables = new Map<string, KeyTable>();
  return (locator) => {
    const table = tables.get(locator) ?? createKeyTable(createMemorySql());
    tables.set(locator, table);
    return table;
  };
}

/** Keys and their limits as in the service, in memory. */
export function createMemoryKeys(
  listed: string,
  {
    requests = MANY,
    creations = MANY,
    waiting = MANY,
    keys = 100,
    now = Date.now,
    homes = createKeyHomes(),
  }: MemoryLimits = {},
): Pick<Services, "keys" | "managed_keys" | "limits"> {
  const { API_KEYS = [] } = readSettings(ServiceSettings, {
    API_KEYS: listed,
    MEDIA_SIGNING_KEY: "-".repeat(32),
  });
  let used = 0;
  const usages = new Map<string, Usage>();
  const usageOf = (project: string) => {
    const usage = usages.get(project) ?? createUsage();
    usages.set(project, usage);
    return usage;
  };
  const home = (locator: string) => asRemote(homes(locator));
  return {
    keys: createKeyRing({ home, apiKeys: API_KEYS, operators: [], now }),
    managed_keys: createKeys({
      home,
      directory: () => ({ add: async () => {}, list: async () => [] }),
      live: async (project) => usageOf(project).lastUses(),
      maxKeys: keys,
      now,
    }),
    limits: {
      rate: createRateLimiter({
        limits: { requests, creations },
        home: (project) => ({ countUse: async (key_id, use) => usageOf(project).add(key_id, use, now()) }),
        later: (_, work) => void work(),
        now,
      }),
      waiting: { max: waiting, take: async () => used++ < waiting },
    },
  };
}
