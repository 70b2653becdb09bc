import { lookup, Resolver } from "node:dns/promises";
import type { LookUp } from "../../src/storage/http/host-guard.ts";
import { within } from "../../src/util/async.ts";

const LOOKUP_MS = 5000;

/**
 * Resolves names with the system's resolver or the given name servers, `address:port`; a lookup that takes over 5 s finds none.
 */
export function createLookUp(dns: readonly string[] | null): LookUp {
  if (!dns) {
    return async (hostname) => {
      const asked = lookup(hostname, { all: true }).catch(() => []);
      const found = await within(asked, LOOKUP_MS, () => []);
      return found.map(({ address }) => address);
    };
  }
  const resolver = new Resolver({ timeout: LOOKUP_MS, tries: 1 });
  resolver.setServers(dns);
  return async (hostname) => {
    const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    return found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  };
}
