import ipaddr from "ipaddr.js";
import { MediaError } from "../../core/errors.ts";

/** Which hosts may be contacted beside the public ones. */
export interface HostRules {
  /** Lets every host through: for local use. Default false. */
  allowPrivate?: boolean;
  /** Names or addresses, each with or without `:port`, that are let through although they are private. */
  allowed_hosts?: readonly string[];
}

/** Checks a URL before it is requested, the first one and each that a redirect leads to; throws a {@link MediaError}, or rejects with it. */
export type HostGuard = (url: string | URL) => void | Promise<void>;

/** Looks up the addresses of a host name; what is not known has none, and a rejection says nothing of the name. */
export type LookUp = (hostname: string) => Promise<readonly string[]>;

// RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`, and the suffixes that private networks use by habit.
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

// Addresses of cloud metadata services that lie in public ranges: Azure's wire server.
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(["168.63.129.16"]);

// RFC 4291: all of IPv6 that is routed globally.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Throws `input_forbidden` unless the URL is http(s) and its host is public by name or by address, in whatever notation;
 * private, loopback, link-local, shared, multicast, reserved and metadata addresses are refused, and IPv6 forms that wrap
 * IPv4. Names are not looked up here: see {@link createHostGuard}.
 */
export function checkHost(url: string | URL, rules: HostRules = {}): void {
  const parsed = parseWebUrl(url);
  if (isTrusted(parsed, rules) || isPublicHost(parsed.hostname)) return;
  throw new MediaError("input_forbidden", `The host ${parsed.hostname} is not public; use a public address.`);
}

/** True for a host that the rules let through whatever its address is. */
export function isTrusted({ hostname, host }: URL, { allowPrivate, allowed_hosts }: HostRules): boolean {
  if (allowPrivate) return true;
  const allowed = allowed_hosts?.map((each) => each.toLowerCase()) ?? [];
  return allowed.includes(hostname) || allowed.includes(host);
}

/**
 * Builds a {@link HostGuard} with fixed rules. With a way to look names up it also refuses a name that has a private address now.
 * Whoever then connects looks it up once more, so that the network has to refuse what may have changed in between.
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
    const message = `The host ${hostname} has an address that is not public; use a public one.`;
    throw new MediaError("input_forbidden", message);
  };
}

function parseWebUrl(url: string | URL): URL {
  const parsed = url instanceof URL ? url : URL.parse(url);
  if (!parsed) throw new MediaError("input_forbidden", "The source's address is not a URL.");
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw new MediaError("input_forbidden", `The source must be http or https, not ${parsed.protocol}`);
  }
  if (parsed.username || parsed.password) {
    throw new MediaError("input_forbidden", "The source's URL must not hold a user name or password.");
  }
  return parsed;
}

// The URL parser has already brought numbers of any notation into their one form.
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
