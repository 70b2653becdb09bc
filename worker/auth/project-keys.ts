import { isId } from "../../src/runs/ids.ts";
import {
  type ApiKey,
  DEFAULT_SCOPES,
  KEY_BOUNDS,
  type KeyRequest,
  type NewApiKey,
} from "../../src/runs/key.ts";
import * as errors from "../errors.ts";
import { logFault } from "../log.ts";
import type { Remote } from "../network/durable-objects.ts";
import { createKey, hashKey, locatorOf, type Principal } from "./key-ring.ts";
import type { KeyRefusal, KeyTable, ProjectDirectory, StoredKey } from "./key-table.ts";

/** The key that requests a change; it can grant only its own scopes. */
export type RequestingKey = Pick<Principal, "project" | "scopes" | "hash">;

/**
 * The keys of projects, without those in the setting `API_KEYS`. Ids of other projects are unknown. Changes reject with `token_invalid`
 * if the requesting key was revoked meanwhile, and with `forbidden` if it lacks a scope of the key.
 */
export interface Keys {
  /** Creates a key with that id; only this response contains its secret. Rejects with `forbidden` when the project has the maximum. */
  create(requester: RequestingKey, id: string, request: KeyRequest): Promise<NewApiKey>;
  /** Returns the keys, in any order. */
  list(project: string): Promise<ApiKey[]>;
  /** Returns a key; rejects with `key_not_found`. */
  get(project: string, id: string): Promise<ApiKey>;
  /** Replaces the secret of a key; the old one stays valid for a while. Rejects with `key_not_found`. */
  roll(requester: RequestingKey, id: string, keep_seconds?: number): Promise<NewApiKey>;
  /** Revokes a key with all its secrets; rejects with `key_not_found`. */
  revoke(requester: RequestingKey, id: string): Promise<void>;
  /** Returns the names of all projects that have had keys. */
  projects(): Promise<string[]>;
}

/** Dependencies of {@link createKeys}. */
export interface KeyTools {
  /** Returns the keys in the object of that name. */
  home(locator: string): Remote<KeyTable>;
  directory(): Remote<ProjectDirectory>;
  /** Returns recent uses, which may not be stored yet. */
  live(project: string): Promise<ReadonlyMap<string, number>>;
  /** Maximum number of keys of a project. */
  maxKeys: number;
  now(): number;
}

/** Creates the access to keys through the objects that store them. */
export function createKeys({ home, directory, live, maxKeys, now }: KeyTools): Keys {
  const inDirectory = new Set<string>();
  const tableOf = async (project: string) => home(await locatorOf(project));

  async function list(project: string): Promise<ApiKey[]> {
    const table = await tableOf(project);
    const [all, latest] = await Promise.all([table.list(), live(project)]);
    return all.map((key) => toApiKey(key, latest.get(key.id)));
  }

  async function get(project: string, id: string): Promise<ApiKey> {
    const key = (await list(project)).find((each) => each.id === id);
    if (!key) throw refuse("unknown");
    return key;
  }

  const refuse = (refusal: KeyRefusal) =>
    refusal === "full" ? errors.tooManyKeys({ max: maxKeys }) : REFUSALS[refusal]();

  return {
    async create({ project, scopes: own, hash: by }, id, { name, scopes }) {
      const keyScopes = scopes ?? DEFAULT_SCOPES.filter((scope) => own.includes(scope));
      if (keyScopes.length === 0) throw refuse("exceeds");
      const key = { id, name, project, scopes: [...new Set(keyScopes)], created_at: now(), used_at: null };
      if (!inDirectory.has(project)) await directory().add(project);
      inDirectory.add(project);
      const secret = await createKey(await locatorOf(project));
      const table = await tableOf(project);
      const answer = await table.create(key, await hashKey(secret), by, maxKeys, now());
      if (answer !== "done") throw refuse(answer);
      return { ...toApiKey(key), secret };
    },
    list,
    get,
    async roll({ project, hash: by }, id, keep_seconds = KEY_BOUNDS.keep_seconds.default) {
      const key = await get(project, id);
      const secret = await createKey(await locatorOf(project));
      const until = now() + keep_seconds * 1000;
      const table = await tableOf(project);
      const answer = await table.roll(id, await hashKey(secret), until, by, now());
      if (answer !== "done") throw refuse(answer);
      return { ...key, secret };
    },
    async revoke({ project, hash: by }, id) {
      const answer = await (await tableOf(project)).revoke(id, by, now());
      if (answer !== "done") throw refuse(answer);
    },
    projects: () => directory().list(),
  };
}

const REFUSALS = {
  barred: errors.keyRevoked,
  exceeds: errors.scopesExceeded,
  unknown: () => errors.notFound("key"),
};

function toApiKey({ id, name, scopes, created_at, used_at }: StoredKey, latest = used_at): ApiKey {
  return { id, object: "key", name, scopes: [...scopes], created_at, last_used_at: latest };
}

/** Milliseconds between two records of a key's last use. */
export const NOTE_MS = 300_000;

/** Records the last use of keys: at once on the first use in this object, then rarely. */
export function createUseNotes(store: (key_id: string, at: number) => Promise<void>) {
  const lastNotes = new Map<string, number>();
  return {
    /** Records a use, unless one was recorded recently or the key is in the settings. */
    async note(key_id: string, now: number): Promise<void> {
      if (!isId("key", key_id) || now < (lastNotes.get(key_id) ?? 0) + NOTE_MS) return;
      lastNotes.set(key_id, now);
      try {
        await store(key_id, now);
      } catch (thrown) {
        lastNotes.delete(key_id);
        logFault("last use not noted", thrown, { key_id });
      }
    },
  };
}
