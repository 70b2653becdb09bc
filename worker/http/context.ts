import type { Context, Handler, Hono } from "hono";
import { isId } from "../../src/runs/ids.ts";
import type { ListType } from "../../src/runs/lists.ts";
import type { HostRules } from "../../src/storage/http/host-guard.ts";
import type { Principal } from "../auth/key-ring.ts";
import * as errors from "../errors.ts";
import type { Limited } from "../limits/rate-limiter.ts";

/** Settings of the API, including the rules for hosts of inputs. */
export interface ApiSettings extends HostRules {
  /** Base of the service's own URLs, such as `https://media.example`. Defaults to the origin of the request. */
  base_url?: string | undefined;
  /** Origins whose pages may call the API; `*` for any, `loopback` for those of this machine. Defaults to any. */
  cors_origins?: readonly string[] | undefined;
  /** Origins whose pictures image URLs may use without a signature. Defaults to none. */
  image_origins?: readonly string[] | undefined;
  /** Hosts that requests may name; `loopback` for those of this machine. Defaults to any. */
  service_hosts?: readonly string[] | undefined;
}

/** State of a request: its id, and the owner and project of its API key, set by the authentication. */
export interface ApiEnv {
  Variables: {
    request_id: string;
    subject?: string;
    principal: Principal;
    project: string;
    /** The state of each counted limit of its key, as a header value. */
    standings?: Partial<Record<Limited, string>>;
  };
}

/** A route with its description in the OpenAPI document. */
export interface Route {
  method: "get" | "post" | "patch" | "delete";
  /** Path with parameters in braces, as in OpenAPI. */
  path: string;
  /** The Operation Object of OpenAPI. */
  operation: object;
}

/** The Hono app of the API, with the routes that its document describes. */
export interface Api extends Hono<ApiEnv> {
  readonly described: Route[];
}

/** Adds a route together with its description, so that the document lists exactly the routes that are served. */
export function serve(app: Api, route: Route, handler: Handler<ApiEnv>): void {
  app.described.push(route);
  app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ":$1"), handler);
}

/** Returns the id in the path; throws not found for a malformed one, before any lookup. */
export function idInPath(c: Context, sort: ListType): string {
  const id = c.req.param("id") ?? "";
  if (isId(sort, id)) {
    c.set("subject", id);
    return id;
  }
  throw errors.notFound(sort);
}

/** Returns the base of the URLs in a response, without a trailing slash. */
export function baseUrl(c: Context, settings: ApiSettings): string {
  return (settings.base_url ?? new URL(c.req.url).origin).replace(/\/+$/, "");
}
