import type { LookUp } from "../src/storage/host-guard.ts";
import type { Env } from "./env.ts";
import { createOutside, type Outside } from "./outside.ts";
import { readHostRules } from "./settings.ts";

/** Builds the way outside of the service Worker. */
export function createOutsideOf(env: Env): Outside {
  const { OUTSIDE, LOOKUP } = env;
  const lookUp: LookUp | undefined =
    LOOKUP &&
    (async (hostname) => {
      const answer = await LOOKUP.fetch(`http://lookup/${encodeURIComponent(hostname)}`);
      return (await answer.json()) as string[];
    });
  return createOutside(readHostRules(env), { network: OUTSIDE, lookUp });
}
