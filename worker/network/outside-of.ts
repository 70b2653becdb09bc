import type { HostRules, LookUp } from "../../src/storage/http/host-guard.ts";
import type { Env } from "../env.ts";
import { createDnsOverHttps } from "./dns-over-https.ts";
import { createOutside, type Outside } from "./outside.ts";

/** Which hosts inputs, webhooks and connections may be on, beside the public ones. */
export function hostRules({ settings }: Pick<Env, "settings">): HostRules {
  return { allowPrivate: settings.ALLOW_PRIVATE_NETWORK, allowed_hosts: settings.ALLOWED_HOSTS ?? [] };
}

/** Creates the outside network of the service Worker. */
export function createOutsideOf(env: Env): Outside {
  return createOutside(hostRules(env), { network: env.OUTSIDE, lookUp: lookUpOf(env) });
}

// Of this isolate, so that requests share the answers.
const resolvers = new Map<string, LookUp>();

// The host's own way comes first; a deployment has a resolver alone.
function lookUpOf({ LOOKUP, settings: { DNS_RESOLVER: resolver } }: Env): LookUp | undefined {
  if (LOOKUP) {
    return async (hostname) => {
      const answer = await LOOKUP.fetch(`http://lookup/${encodeURIComponent(hostname)}`);
      return (await answer.json()) as string[];
    };
  }
  if (resolver === undefined) return undefined;
  const known = resolvers.get(resolver) ?? createDnsOverHttps(resolver);
  resolvers.set(resolver, known);
  return known;
}
