import type { HostRules, LookUp } from "../../src/storage/http/host-guard.ts";
import type { Env } from "../env.ts";
import { createOutside, type Outside } from "./outside.ts";

/** Which hosts inputs, webhooks and connections may be on, beside the public ones. */
export function hostRules({ settings }: Pick<Env, "settings">): HostRules {
  return { allowPrivate: settings.ALLOW_PRIVATE_NETWORK, allowed_hosts: settings.ALLOWED_HOSTS ?? [] };
}

/** Creates the outside network of the service Worker. */
export function createOutsideOf(env: Env): Outside {
  const { OUTSIDE, LOOKUP } = env;
  const lookUp: LookUp | undefined =
    LOOKUP &&
    (async (hostname) => {
      const answer = await LOOKUP.fetch(`http://lookup/${encodeURIComponent(hostname)}`);
      return (await answer.json()) as string[];
    });
  return createOutside(hostRules(env), { network: OUTSIDE, lookUp });
}
