import { MediaError } from "../../src/core/errors.ts";
import {
  createEndpoint,
  type NewWebhookEndpoint,
  parseEndpointChange,
  parseEndpointRequest,
  parseRotateRequest,
} from "../../src/core/webhook.ts";
import * as docs from "../docs/webhooks.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import { creating } from "../idempotency/creating.ts";
import type { Services } from "../services.ts";
import { checkWebhookUrl } from "../webhooks/check-url.ts";
import { answerList, readListQuery } from "./lists.ts";

/** Adds the routes of webhooks: endpoints, their secrets, deliveries, and the events that these deliver. */
export function addWebhookRoutes(app: Api, services: Services): void {
  const { webhooks, settings, seal, now } = services;

  serve(
    app,
    docs.createWebhookEndpoint,
    creating<NewWebhookEndpoint>(services, {
      sort: "endpoint",
      // The answer holds the secret.
      seal,
      async make(request, c, id) {
        const given = parseEndpointRequest(await readJson(request));
        await checkWebhookUrl(given.url, "url", services);
        return webhooks.create(
          c.get("project"),
          createEndpoint(given, () => id, now()),
        );
      },
      // Without its secret it is of no use, so another is made.
      find: async () => null,
    }),
  );

  serve(app, docs.listWebhookEndpoints, async (c) => {
    const query = readListQuery(c.req.url, "endpoint");
    return answerList(c, baseUrl(c, settings), query, await webhooks.list(c.get("project"), query));
  });

  serve(app, docs.getWebhookEndpoint, async (c) => {
    const found = await webhooks.get(c.get("project"), idInPath(c, "endpoint"));
    if (!found) throw new MediaError("endpoint_not_found", "There is no endpoint with that id.");
    return c.json(found);
  });

  serve(app, docs.changeWebhookEndpoint, async (c) => {
    const change = parseEndpointChange(await readJson(c.req.raw));
    if (change.url !== undefined) await checkWebhookUrl(change.url, "url", services);
    return c.json(await webhooks.change(c.get("project"), idInPath(c, "endpoint"), change));
  });

  serve(app, docs.rotateEndpointSecret, async (c) => {
    const { keep_seconds } = parseRotateRequest(await readJson(c.req.raw));
    return c.json(await webhooks.rotate(c.get("project"), idInPath(c, "endpoint"), keep_seconds));
  });

  serve(app, docs.deleteWebhookEndpoint, async (c) => {
    await webhooks.remove(c.get("project"), idInPath(c, "endpoint"));
    return c.body(null, 204);
  });

  serve(app, docs.rotateWebhookSecret, async (c) => {
    const { keep_seconds } = parseRotateRequest(await readJson(c.req.raw));
    return c.json(await webhooks.rotate(c.get("project"), null, keep_seconds));
  });

  serve(app, docs.listWebhookDeliveries, async (c) => {
    const query = readListQuery(c.req.url, "delivery");
    return answerList(c, baseUrl(c, settings), query, await webhooks.deliveries(c.get("project"), query));
  });

  serve(app, docs.getWebhookDelivery, async (c) => {
    const found = await webhooks.delivery(c.get("project"), idInPath(c, "delivery"));
    if (!found) throw new MediaError("delivery_not_found", "There is no delivery with that id.");
    return c.json(found);
  });

  serve(app, docs.replayWebhookDelivery, async (c) => {
    return c.json(await webhooks.replay(c.get("project"), idInPath(c, "delivery")));
  });

  serve(app, docs.listEvents, async (c) => {
    const query = readListQuery(c.req.url, "event");
    return answerList(c, baseUrl(c, settings), query, await webhooks.events(c.get("project"), query));
  });

  serve(app, docs.getEvent, async (c) => {
    const found = await webhooks.event(c.get("project"), idInPath(c, "event"));
    if (!found) throw new MediaError("event_not_found", "There is no event with that id.");
    return c.json(found);
  });
}
