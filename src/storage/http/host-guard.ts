import ipaddr from "ipaddr.js";
import * as errors from "../errors.ts";

/** The hosts that may be contacted besides public ones. */
export interface HostRules {
  /** Allows every host; for local use. Default false. */
  allowPrivate?: boolean;
  /** Private names or addresses to allow, each with or without `:port`. */
  allowed_hosts?: readonly string[];
}

/** Checks a URL before each request, including redirects; throws or rejects with a `MediaError`. */
export type HostGuard = (url: string | URL) => void | Promise<void>;

/** Resolves a host name to its addresses; empty when the name is unknown. A rejection means that the lookup itself failed. */
export type LookUp = (hostname: string) => Promise<readonly string[]>;

// RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`, and suffixes common in private networks.
const PRIVATE_SUFFIXES = [
  "localhost",
  "local",
  "internal",
  "localdomain",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "home.arpa",
] as const;

// Azure's wire server, a metadata service at a public address.
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(["168.63.129.16"]);

// RFC 4291: the globally routed part of IPv6.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Throws `input_forbidden` unless the URL is http(s) and its host is public by name or by address in any notation. Private,
 * loopback, link-local, shared, multicast, reserved and metadata addresses are refused, and IPv6 forms that embed IPv4. Does
 * not resolve names: see {@link createHostGuard}.
 */
export function checkHost(url: string | URL, rules: HostRules = {}): void {
  const parsed = parseWebUrl(url);
  if (isTrusted(parsed, rules) || isPublicHost(parsed.hostname)) return;
  throw errors.hostPrivate({ host: parsed.hostname });
}

/** Returns whether the rules allow a host whatever its address is. */
export function isTrusted({ hostname, host }: URL, { allowPrivate, allowed_hosts }: HostRules): boolean {
  if (allowPrivate) return true;
  const allowed = allowed_hosts?.map((each) => each.toLowerCase()) ?? [];
  return allowed.includes(hostname) || allowed.includes(host);
}

/**
 * Creates a {@link HostGuard} with fixed rules. Given `lookUp`, it also refuses a name that currently has a private address.
 * The connection resolves the name again, so the network must block an address that has changed in between.
 */
export function createHostGuard(rules: HostRules, lookUp?: LookUp): HostGuard {
  if (!lookUp) return (url) => checkHost(url, rules);
  return async (url) => {
    checkHost(url, rules);
    const parsed = parseWebUrl(url);
    const { hostname } = parsed;
    if (isTrusted(parsed, rules) || ipaddr.isValid(bareHost(hostname))) return;
    const addresses = await lookUp(hostname).catch(() => []);
    if (addresses.every((address) => ipaddr.isValid(address) && isPublicAddress(ipaddr.parse(address))))
      return;
    throw errors.addressPrivate({ host: hostname });
  };
}

function parseWebUrl(url: string | URL): URL {
  const parsed = url instanceof URL ? url : URL.parse(url);
  if (!parsed) throw errors.urlMalformed();
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") throw errors.urlNotHttp(parsed);
  if (parsed.username || parsed.password) throw errors.urlWithUser();
  return parsed;
}

// The URL parser has already normalized numeric addresses.
function isPublicHost(hostname: string): boolean {
  const bare = bareHost(hostname);
  if (ipaddr.isValid(bare)) return isPublicAddress(ipaddr.parse(bare));
  if (!bare.includes(".")) return false;
  return !PRIVATE_SUFFIXES.some((suffix) => bare.endsWith(`.${suffix}`));
}

function isPublicAddress(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (METADATA_ADDRESSES.has(address.toString()) || address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
}
