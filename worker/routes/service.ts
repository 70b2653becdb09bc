import { MediaError } from "../../src/core/errors.ts";
import { createDocument } from "../docs/document.ts";
import { PAGE, PAGE_FILES, PAGE_POLICY } from "../docs/page.ts";
import * as docs from "../docs/service.ts";
import { type Api, baseUrl } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import type { Services } from "../services.ts";

/** Adds the routes about the service itself: health, the OpenAPI document and the reference page. */
export function addServiceRoutes(app: Api, services: Services): void {
  let document: object | undefined;

  serve(app, docs.getHealth, (c) => c.json({ status: "ok" }));

  serve(app, docs.getDocument, (c) => {
    document ??= createDocument(app.described);
    return c.json({ ...document, servers: [{ url: baseUrl(c, services.settings) }] });
  });

  serve(app, docs.getDocs, (c) => {
    c.header("Content-Security-Policy", PAGE_POLICY);
    c.header("Cache-Control", "no-cache");
    return c.html(PAGE);
  });

  app.get("/docs/:file", async (c) => {
    const file = c.req.param("file");
    const known = (PAGE_FILES as readonly string[]).includes(file);
    const found = known
      ? await services.assets.fetch(new Request(new URL(`/docs/${file}`, c.req.url)))
      : null;
    if (!found?.ok) throw new MediaError("route_not_found", `There is no ${c.req.path}.`);
    return new Response(found.body, found);
  });
}
