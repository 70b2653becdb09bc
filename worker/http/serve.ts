import type { Handler } from "hono";
import type { Api, ApiEnv, Route } from "./context.ts";

/** Adds a route together with its description, so that the document names exactly what is served. */
export function serve(app: Api, route: Route, handler: Handler<ApiEnv>): void {
  app.described.push(route);
  app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ":$1"), handler);
}
