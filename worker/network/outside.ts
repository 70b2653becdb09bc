import {
  createHostGuard,
  type HostGuard,
  type HostRules,
  isTrusted,
  type LookUp,
} from "../../src/storage/http/host-guard.ts";
import * as errors from "../errors.ts";

/**
 * Access to hosts that callers name: their inputs, webhooks and own storage. Cloudflare's network refuses private addresses itself. In
 * workerd elsewhere, requests go through a network that connects only to public addresses, which also defeats DNS rebinding; names are
 * resolved beforehand for a clear error.
 */
export interface Outside {
  /** Checks the host of a URL, and its addresses when names can be resolved; rejects with `input_forbidden`. */
  guard: HostGuard;
  /** Checks and requests a URL. Never follows redirects, which must be checked too. Rejects with `input_forbidden`, or as `fetch` does. */
  fetch(url: string, init?: RequestInit): Promise<Response>;
}

/** How the local service reaches hosts and resolves names, in addition to the platform's fetch. */
export interface OutsideNetwork {
  /** Connects only to public addresses. */
  network?: { fetch(url: string, init?: RequestInit): Promise<Response> } | undefined;
  lookUp?: LookUp | undefined;
}

/** Creates the access with its rules; hosts that the rules trust are reached with the platform's fetch. */
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

const ADDRESSES = { A: 1, AAAA: 28 } as const;
const LOOKUP_MS = 5000;
// A rebinding name changes within a minute; a source is read by many requests.
const CACHE_MS = 30_000;
const MAX_CACHED = 1000;

/**
 * Resolves names with a resolver that returns `application/dns-json`, like Cloudflare's and Google's. Caches answers for 30 s. Rejects
 * when it gets no answer for either address type within 5 s.
 */
export function createDnsOverHttps(resolver: string, now: () => number = Date.now): LookUp {
  const cache = new Map<string, { addresses: Promise<readonly string[]>; until: number }>();

  async function ask(hostname: string): Promise<readonly string[]> {
    const answers = await Promise.allSettled(
      Object.entries(ADDRESSES).map(([type, number]) => askFor(resolver, hostname, type, number)),
    );
    const [first] = answers;
    if (first?.status === "rejected" && answers.every(({ status }) => status === "rejected"))
      throw first.reason;
    // A name server that withholds one answer must not hide a private address in the other.
    return answers.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  }

  return (hostname) => {
    const cached = cache.get(hostname);
    if (cached && cached.until > now()) return cached.addresses;
    const addresses = ask(hostname);
    addresses.catch(() => cache.delete(hostname));
    cache.delete(hostname);
    cache.set(hostname, { addresses, until: now() + CACHE_MS });
    const [oldest] = cache.keys();
    if (oldest !== undefined && cache.size > MAX_CACHED) cache.delete(oldest);
    return addresses;
  };
}

async function askFor(resolver: string, name: string, type: string, number: number): Promise<string[]> {
  const url = `${resolver}?${new URLSearchParams({ name, type })}`;
  const headers = { Accept: "application/dns-json" };
  const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(LOOKUP_MS) });
  if (!response.ok) throw errors.resolverFailed({ status: response.status });
  const { Answer: records = [] } = (await response.json()) as { Answer?: { type: number; data: string }[] };
  return records.filter((record) => record.type === number).map(({ data }) => data);
}
