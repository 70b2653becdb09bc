import {
  createHostGuard,
  type HostGuard,
  type HostRules,
  isTrusted,
  type LookUp,
} from "../../src/storage/http/host-guard.ts";
import { errors } from "../errors.ts";

/**
 * The way to hosts that callers name: their inputs, their webhooks and their own storage. What protects it depends on where the
 * service runs. Cloudflare's network refuses private addresses itself. In workerd elsewhere requests go through a network that
 * connects to public addresses alone, whatever a name is made to mean in the meantime, and names are looked up beforehand to say so.
 */
export interface Outside {
  /** Checks a URL by its name, its number and, where names can be looked up, its addresses; rejects with `input_forbidden`. */
  guard: HostGuard;
  /** Checks a URL and requests it; never follows a redirect, which has to be checked as well. Rejects with `input_forbidden`, or as `fetch` does. */
  fetch(url: string, init?: RequestInit): Promise<Response>;
}

/** What there is beside the platform's own fetch. */
export interface OutsideNetwork {
  /** Reaches public addresses alone. */
  network?: { fetch(url: string, init?: RequestInit): Promise<Response> } | undefined;
  lookUp?: LookUp | undefined;
}

/** Creates the outside network with its rules; hosts that these name are reached by the platform's fetch. */
export function createOutside(rules: HostRules, { network, lookUp }: OutsideNetwork = {}): Outside {
  const guard = createHostGuard(rules, lookUp);
  return {
    guard,
    async fetch(url, init) {
      await guard(url);
      const once: RequestInit = { ...init, redirect: "manual" };
      if (!network || isTrusted(new URL(url), rules)) return fetch(url, once);
      return network.fetch(url, once);
    },
  };
}

// Types of records as IANA numbers them.
const ADDRESSES = { A: 1, AAAA: 28 } as const;
const LOOKUP_MS = 5000;
// A rebinding name changes within a minute; a source is read by many requests.
const KEPT_MS = 30_000;
const MOST_KEPT = 1000;

/**
 * Resolves names with a resolver that answers `application/dns-json`, as Cloudflare's and Google's do; rejects when it answers for
 * neither type of address within 5 s. An answer is used for 30 s.
 */
export function createDnsOverHttps(resolver: string, now: () => number = Date.now): LookUp {
  const kept = new Map<string, { addresses: Promise<readonly string[]>; until: number }>();

  async function ask(hostname: string): Promise<readonly string[]> {
    const found = await Promise.allSettled(
      Object.entries(ADDRESSES).map(([type, number]) => askFor(resolver, hostname, type, number)),
    );
    const [first] = found;
    if (first?.status === "rejected" && found.every(({ status }) => status === "rejected"))
      throw first.reason;
    // A name server that withholds one answer must not hide a private address in the other.
    return found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  }

  return (hostname) => {
    const known = kept.get(hostname);
    if (known && known.until > now()) return known.addresses;
    const addresses = ask(hostname);
    addresses.catch(() => kept.delete(hostname));
    kept.delete(hostname);
    kept.set(hostname, { addresses, until: now() + KEPT_MS });
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size > MOST_KEPT) kept.delete(oldest);
    return addresses;
  };
}

async function askFor(resolver: string, name: string, type: string, number: number): Promise<string[]> {
  const url = `${resolver}?${new URLSearchParams({ name, type })}`;
  const headers = { Accept: "application/dns-json" };
  const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(LOOKUP_MS) });
  if (!response.ok) throw errors.resolverFailed({ status: response.status });
  const { Answer: records = [] } = (await response.json()) as { Answer?: { type: number; data: string }[] };
  // The names on the way to an address are records too.
  return records.filter((record) => record.type === number).map(({ data }) => data);
}
