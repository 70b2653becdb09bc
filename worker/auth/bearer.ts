import type { Context, MiddlewareHandler } from "hono";
import { errors } from "../errors.ts";
import type { ApiEnv } from "../http/context.ts";
import { countRequest, type Limits } from "../limits/enforce.ts";
import { type KeyRing, OPERATOR, type Principal } from "./key-ring.ts";
import { operatorOf } from "./operator.ts";
import { checkScope } from "./scopes.ts";

/** What requests are checked by before a route gets them. */
export interface BearerTools {
  keys: KeyRing;
  limits: Limits;
}

/** Lets only requests with a known API key through that has not asked too often and is allowed what they want, and sets whose they are. Open paths pass without. */
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
  const found = key === undefined ? null : await keys.find(key);
  if (found) return found === OPERATOR ? operatorOf(c) : found;
  throw key === undefined ? errors.tokenMalformed() : errors.tokenUnknown();
}
