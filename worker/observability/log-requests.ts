import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { ApiEnv } from "../http/context.ts";
import { type Log, nameRun } from "./log.ts";

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Writes a line for every request once its answer begins: for a stream that is long before it ends. */
export function logRequests(log: Log, now: () => number): MiddlewareHandler<ApiEnv> {
  return async function logRequests(c, next) {
    const began = now();
    await next();
    const { status } = c.res;
    const route = routePath(c, -1);
    log(status >= 500 ? "error" : "info", {
      message: "request",
      request_id: c.get("request_id"),
      ...nameRun(c.get("subject")),
      project: c.get("project"),
      key_id: c.get("principal")?.id,
      method: METHODS.has(c.req.method) ? c.req.method : "other",
      // What no route takes is met by what is there for all of them.
      route: route.includes("*") && !route.startsWith("/media/") ? "none" : route,
      status,
      ms: now() - began,
    });
  };
}
