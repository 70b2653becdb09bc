import type { RouteConfig } from "@hono/zod-openapi";
import type { Handler } from "hono";
import type { Api, ApiEnv } from "./context.ts";

/** Adds a route together with its description, so that the document names exactly what is served. */
export function serve(app: Api, route: RouteConfig, handler: Handler<ApiEnv>): void {
  app.openAPIRegistry.registerPath(route);
  app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ":$1"), handler);
}
