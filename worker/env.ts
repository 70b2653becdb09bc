/// <reference path="./bindings.d.ts" />

import type { Storage } from "../src/runs/ports.ts";
import type { HostRules, LookUp } from "../src/storage/http/host-guard.ts";
import { createDiskBucket } from "./network/disk-bucket.ts";
import { createDnsOverHttps, createOutside, type Outside } from "./network/outside.ts";
import { createR2Storage } from "./network/r2-storage.ts";
import { type ServiceSettings, serviceSettings } from "./settings.ts";

/** The bindings of the service Worker with its settings. */
export interface Env extends Bindings {
  readonly settings: ServiceSettings;
}

/** Adds the parsed settings to the bindings; throws a {@link SettingsError}. */
export function readEnv(bindings: Bindings): Env {
  return { ...bindings, settings: serviceSettings(bindings) };
}

// Drawn in bulk: an id takes 16 numbers, and each draw leaves the isolate.
const numbers = new Uint32Array(256);
let remaining = 0;

/** Returns a cryptographically random number in [0, 1). */
export function random(): number {
  if (remaining === 0) remaining = crypto.getRandomValues(numbers).length;
  return (numbers[--remaining] ?? 0) / 2 ** 32;
}

/** Returns the bucket of media: R2, or the directory that the local service binds instead. */
export function mediaBucket({ MEDIA, DISK }: Pick<Bindings, "MEDIA" | "DISK">): R2Bucket {
  return DISK ? createDiskBucket(DISK) : MEDIA;
}

/** Returns the storage of media. */
export function mediaStorage(bindings: Pick<Bindings, "MEDIA" | "DISK">): Storage {
  return createR2Storage(mediaBucket(bindings));
}

/** Returns the rules for hosts of inputs, webhooks and connections beside public ones. */
export function hostRules({ settings }: Pick<Env, "settings">): HostRules {
  return { allowPrivate: settings.ALLOW_PRIVATE_NETWORK, allowed_hosts: settings.ALLOWED_HOSTS ?? [] };
}

/** Creates the outside network of the service Worker. */
export function createOutsideOf(env: Env): Outside {
  return createOutside(hostRules(env), { network: env.OUTSIDE, lookUp: lookUpOf(env) });
}

const resolvers = new Map<string, LookUp>();

function lookUpOf({ LOOKUP, settings: { DNS_RESOLVER: resolver } }: Env): LookUp | undefined {
  if (LOOKUP) {
    return async (hostname) => {
      const answer = await LOOKUP.fetch(`http://lookup/${encodeURIComponent(hostname)}`);
      return (await answer.json()) as string[];
    };
  }
  if (resolver === undefined) return undefined;
  const lookUp = resolvers.get(resolver) ?? createDnsOverHttps(resolver);
  resolvers.set(resolver, lookUp);
  return lookUp;
}
