import {
  createHostGuard,
  type HostGuard,
  type HostRules,
  isTrusted,
  type LookUp,
} from "../../src/storage/http/host-guard.ts";

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
