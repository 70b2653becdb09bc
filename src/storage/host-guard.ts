import ipaddr from "ipaddr.js";
import { MediaError } from "../core/errors.ts";

/** Which hosts may be contacted beside the public ones. */
export interface HostRules {
  /** Lets every host through: for local use. Default false. */
  allow_private?: boolean;
  /** Names or addresses, each with or without `:port`, that are let through although they are private. */
  allowed_hosts?: readonly string[];
}

/** Checks a URL before it is requested, the first one and each that a redirect leads to; throws a {@link MediaError}. */
export type HostGuard = (url: string | URL) => void;

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
 * IPv4. Names are not resolved: a public name that points at a private address has to be stopped by the network.
 */
export function checkHost(url: string | URL, rules: HostRules = {}): void {
  const parsed = url instanceof URL ? url : URL.parse(url);
  if (!parsed) throw new MediaError("input_forbidden", "The source's address is not a URL.");
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw new MediaError("input_forbidden", `The source must be http or https, not ${parsed.protocol}`);
  }
  if (parsed.username || parsed.password) {
    throw new MediaError("input_forbidden", "The source's URL must not hold a user name or password.");
  }
  if (rules.allow_private) return;
  const allowed = rules.allowed_hosts?.map((host) => host.toLowerCase()) ?? [];
  if (allowed.includes(parsed.hostname) || allowed.includes(parsed.host)) return;
  if (isPublicHost(parsed.hostname)) return;
  throw new MediaError("input_forbidden", `The host ${parsed.hostname} is not public; use a public address.`);
}

/** Builds a {@link HostGuard} with fixed rules. */
export function createHostGuard(rules: HostRules): HostGuard {
  return (url) => checkHost(url, rules);
}

// The URL parser has already brought numbers of any notation into their one form.
function isPublicHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  if (ipaddr.isValid(bare)) return isPublicAddress(ipaddr.parse(bare));
  if (!bare.includes(".")) return false;
  return !PRIVATE_SUFFIXES.some((suffix) => bare.endsWith(`.${suffix}`));
}

function isPublicAddress(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (METADATA_ADDRESSES.has(address.toString()) || address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}
