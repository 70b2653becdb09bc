import type { Context, MiddlewareHandler } from "hono";
import { SCOPES, type Scope } from "../../src/runs/key.ts";
import * as errors from "../errors.ts";
import type { ApiEnv } from "../http/context.ts";
import { countRequest, type Limits } from "../limits/limits.ts";
import { type KeyRing, OPERATOR, type Principal } from "./key-ring.ts";

/** Dependencies of {@link bearer}. */
export interface BearerTools {
  keys: KeyRing;
  limits: Limits;
}

/** Authenticates the request, applies its rate limit, checks the scope, and sets `principal` and `project`. Open paths pass without a key. */
export function bearer(
  { keys, limits }: BearerTools,
  isOpen: (path: string) => boolean,
): MiddlewareHandler<ApiEnv> {
  return async function bearer(c, next) {
    if (isOpen(c.req.path)) return next();
    const principal = await authenticate(c, keys);
    c.set("principal", principal);
    c.set("project", principal.project);
    if (principal.id !== OPERATOR) countRequest(c, limits);
    checkScope(c, principal);
    return next();
  };
}

async function authenticate(c: Context<ApiEnv>, keys: KeyRing): Promise<Principal> {
  const header = c.req.header("Authorization");
  if (header === undefined) {
    throw errors.tokenMissing();
  }
  // https://www.rfc-editor.org/rfc/rfc6750#section-2.1, with any printable character in the key
  const key = /^Bearer +([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
  const owner = key === undefined ? null : await keys.find(key);
  if (owner) return owner === OPERATOR ? operatorOf(c) : owner;
  throw key === undefined ? errors.tokenMalformed() : errors.tokenUnknown();
}

/** The header in which an operator names the project whose keys a request concerns. */
export const PROJECT_HEADER = "Framewright-Project";
/** The path that lists the names of all projects, for operators only. */
export const PROJECTS_PATH = "/operator/projects";

/** Returns the principal of an operator's request, which may concern only the keys of the named project; throws `forbidden` or `request_invalid`. */
function operatorOf(c: Context<ApiEnv>): Principal {
  const all = { id: OPERATOR, scopes: SCOPES, hash: null };
  if (c.req.path === PROJECTS_PATH) return { ...all, project: "" };
  if (!/^\/keys(\/|$)/.test(c.req.path)) {
    throw errors.operatorKeysOnly();
  }
  const project = c.req.header(PROJECT_HEADER) ?? "";
  if (/^[\w-]{1,64}$/.test(project)) return { ...all, project };
  throw errors.operatorProjectMissing({ header: PROJECT_HEADER });
}

const ADMIN = /^\/(keys|metrics)(\/|$)/;
const CONNECTIONS = /^\/connections(\/|$)/;

/**
 * Returns the scope that a request needs; the path may be a template of the OpenAPI document. A connection decides where outputs go and
 * what may be signed, so changing one needs more than `write`.
 */
export function scopeOf(method: string, path: string): Scope {
  if (ADMIN.test(path)) return "admin";
  if (/^(get|head)$/i.test(method)) return "read";
  if (!CONNECTIONS.test(path) || path.endsWith("/test")) return "write";
  return path.endsWith("/sign") ? "connections.sign" : "connections.manage";
}

function checkScope(c: Context<ApiEnv>, { scopes }: Principal): void {
  const scope = scopeOf(c.req.method, c.req.path);
  if (scopes.includes(scope)) return;
  c.header("WWW-Authenticate", `Bearer realm="framewright", error="insufficient_scope", scope="${scope}"`);
  throw errors.scopeMissing({ scope });
}
