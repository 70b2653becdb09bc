import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ApiSettings } from "../services.ts";

/** What travels with a request: its id, and the project of its API key (set by the authentication). */
export interface ApiEnv {
  Variables: { request_id: string; project: string };
}

/** The Hono app of the API. */
export type Api = OpenAPIHono<ApiEnv>;

/** Gives the base of the URLs in an answer, without a slash at its end. */
export function baseUrl(c: Context, settings: ApiSettings): string {
  return (settings.base_url ?? new URL(c.req.url).origin).replace(/\/+$/, "");
}
