import type { Context } from "hono";
import type { Scope } from "../../src/runs/key.ts";
import { errors } from "../errors.ts";
import type { ApiEnv } from "../http/context.ts";
import type { Principal } from "./key-ring.ts";

const ADMIN = /^\/(keys|metrics)(\/|$)/;
const CONNECTIONS = /^\/connections(\/|$)/;

/**
 * Returns the permission that a request needs; the path may be a template, as in the document. A connection decides where outputs go
 * and what may be signed, so to change one takes more than `write`.
 */
export function scopeOf(method: string, path: string): Scope {
  if (ADMIN.test(path)) return "admin";
  if (/^(get|head)$/i.test(method)) return "read";
  if (!CONNECTIONS.test(path) || path.endsWith("/test")) return "write";
  return path.endsWith("/sign") ? "connections.sign" : "connections.manage";
}

/** Throws `forbidden` for a request that its key is not allowed. */
export function checkScope(c: Context<ApiEnv>, { scopes }: Principal): void {
  const needed = scopeOf(c.req.method, c.req.path);
  if (scopes.includes(needed)) return;
  // https://www.rfc-editor.org/rfc/rfc6750#section-3.1
  c.header("WWW-Authenticate", `Bearer realm="framewright", error="insufficient_scope", scope="${needed}"`);
  throw errors.scopeMissing({ scope: needed });
}
