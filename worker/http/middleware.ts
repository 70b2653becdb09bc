import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { secureHeaders } from "hono/secure-headers";
import type { CreateId } from "../../src/runs/ids.ts";
import { isLoopback } from "../../src/util/text.ts";
import * as errors from "../errors.ts";
import type { ApiEnv } from "./context.ts";

// These middlewares set headers on the finished response. `c.header` would make Hono create a new one, whose body is a stream of unknown length.

/** Assigns every request an id and returns it as `Request-Id`. */
export function requestId(id: CreateId, now: () => number): MiddlewareHandler<ApiEnv> {
  return async function requestId(c, next) {
    c.set("request_id", id("request", now()));
    await next();
    c.res.headers.set("Request-Id", c.get("request_id"));
  };
}

/** Sets security headers for browsers; routes that serve pages or media set their own policy first. */
export const securityHeaders: MiddlewareHandler = secureHeaders({
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  strictTransportSecurity: "max-age=15552000",
  xFrameOptions: "DENY",
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
  overwrite: false,
});

/** Keeps responses without a `Cache-Control` of their own out of caches. */
export const noStore: MiddlewareHandler = async function noStore(c, next) {
  await next();
  if (!c.res.headers.has("Cache-Control")) c.res.headers.set("Cache-Control", "no-store");
};

/** Responds to a browser's automatic requests for an icon, even from a tab that shows a stored file and has an opaque origin. */
export const noIcon: MiddlewareHandler = async function noIcon(c) {
  c.header("Cross-Origin-Resource-Policy", "cross-origin");
  c.header("Cache-Control", "public, max-age=86400");
  return c.body(null, 204);
};

const LOOPBACK = "loopback";

const EXPOSED = [
  "Request-Id",
  "Link",
  "Has-More",
  "Retry-After",
  "RateLimit",
  "RateLimit-Policy",
  "Content-Length",
  "Content-Range",
  "Accept-Ranges",
  "ETag",
  "Dropped",
];

/** Lets pages of some origins, `*` for any, call the API with a bearer key and play media; answers preflights before authentication. */
export function crossOrigin(origins: readonly string[]): MiddlewareHandler {
  const any = origins.includes("*");
  const allowed = (origin: string) => (any ? "*" : isTrusted(origins, origin) ? origin : null);
  const preflight = cors({
    origin: any ? "*" : allowed,
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    allowHeaders: [
      "Authorization",
      "Content-Type",
      "Idempotency-Key",
      "Last-Event-ID",
      "Range",
      "If-Range",
      "If-None-Match",
    ],
    exposeHeaders: EXPOSED,
    maxAge: 7200,
  });
  const exposed = EXPOSED.join(",");
  return async function crossOrigin(c, next) {
    if (c.req.method === "OPTIONS") return preflight(c, next);
    await next();
    const { headers } = c.res;
    const origin = allowed(c.req.header("Origin") ?? "");
    if (origin) headers.set("Access-Control-Allow-Origin", origin);
    headers.set("Access-Control-Expose-Headers", exposed);
    if (!any) headers.append("Vary", "Origin");
  };
}

/**
 * Throws `forbidden` for requests from pages other than the service's own, at `base_url`, and those of these origins. CORS alone would
 * only keep such a page from reading the response: a simple request would still take effect.
 */
export function ownPages(origins: readonly string[], base_url: string | undefined): MiddlewareHandler {
  const base = URL.parse(base_url ?? "")?.origin;
  return async function ownPages(c, next) {
    const origin = c.req.header("Origin");
    const own = origin === undefined || origin === base || origin === new URL(c.req.url).origin;
    if (!own && !isTrusted(origins, origin)) {
      throw errors.foreignOrigin();
    }
    await next();
  };
}

/**
 * Throws `forbidden` for a request to any other host name. This prevents DNS rebinding, in which a page points its own host name at this
 * service to be of the same origin.
 */
export function ownHosts(hosts: readonly string[]): MiddlewareHandler {
  return async function ownHosts(c, next) {
    const { host } = new URL(c.req.url);
    const names = [host, c.req.header("Host") ?? host];
    if (!names.every((each) => isOwn(hosts, each))) {
      throw errors.foreignHost();
    }
    await next();
  };
}

function isTrusted(origins: readonly string[], origin: string): boolean {
  if (origins.includes("*") || origins.includes(origin)) return true;
  return origins.includes(LOOPBACK) && /^https?:/.test(origin) && isLoopback(hostnameOf(origin));
}

function isOwn(hosts: readonly string[], host: string): boolean {
  const hostname = hostnameOf(`http://${host}`);
  const isListed = hosts.includes(host.toLowerCase()) || hosts.includes(hostname);
  return isListed || (hosts.includes(LOOPBACK) && isLoopback(hostname));
}

function hostnameOf(url: string): string {
  return URL.parse(url)?.hostname ?? "";
}
