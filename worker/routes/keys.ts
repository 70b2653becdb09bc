import type { NewApiKey } from "../../src/core/key.ts";
import { parseKeyRequest, parseRollRequest } from "../../src/core/key.ts";
import * as docs from "../docs/keys.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import { creating } from "../idempotency/creating.ts";
import type { Services } from "../services.ts";
import { answerList, readListQuery } from "./lists.ts";
import { pageOf } from "./page-of.ts";

/** Adds the routes of API keys. */
export function addKeyRoutes(app: Api, services: Services): void {
  const { managed_keys: keys, settings } = services;

  serve(
    app,
    docs.createKey,
    creating<NewApiKey>(services, {
      sort: "key",
      make: async (request, c, id) =>
        keys.create(c.get("project"), id, parseKeyRequest(await readJson(request))),
      // The secret of an existing key is unknown, so it gets a new one.
      find: async () => null,
      keep: ({ secret: _, ...key }) => key,
    }),
  );

  serve(app, docs.listKeys, async (c) => {
    const query = readListQuery(c.req.url, "key");
    const all = await keys.list(c.get("project"));
    return answerList(c, baseUrl(c, settings), query, pageOf(all, query));
  });

  serve(app, docs.getKey, async (c) => c.json(await keys.get(c.get("project"), idInPath(c, "key"))));

  serve(app, docs.rollKey, async (c) => {
    const id = idInPath(c, "key");
    const { keep_seconds } = parseRollRequest(await readJson(c.req.raw));
    return c.json(await keys.roll(c.get("project"), id, keep_seconds));
  });

  serve(app, docs.revokeKey, async (c) => {
    await keys.revoke(c.get("project"), idInPath(c, "key"));
    return c.body(null, 204);
  });
}
