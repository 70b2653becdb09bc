import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { CreateId } from "../../src/runs/ids.ts";
import type { ApiEnv } from "./context.ts";

// What is set for every answer is set in its own headers, once it is there. With `c.header` Hono makes a new answer each time, whose body is a
// stream of no known length.

/** Assigns every request an id, which its answer carries as `Request-Id`. */
export function requestId(id: CreateId, now: () => number): MiddlewareHandler<ApiEnv> {
  return async function requestId(c, next) {
    c.set("request_id", id("request", now()));
    await next();
    c.res.headers.set("Request-Id", c.get("request_id"));
  };
}

/** Headers that keep a browser from misusing an answer; a route that serves pages or media sets its own policy first. */
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

/** Keeps answers out of caches, but for those that say how long they may be kept. */
export const noStore: MiddlewareHandler = async function noStore(c, next) {
  await next();
  if (!c.res.headers.has("Cache-Control")) c.res.headers.set("Cache-Control", "no-store");
};

/** Answers a browser's automatic requests, even from a tab that shows a stored file and has an opaque origin. */
export const noIcon: MiddlewareHandler = async function noIcon(c) {
  c.header("Cross-Origin-Resource-Policy", "cross-origin");
  c.header("Cache-Control", "public, max-age=86400");
  return c.body(null, 204);
};
