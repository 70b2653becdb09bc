import { type NewApiKey, parseKeyRequest, parseRollRequest } from "../../src/core/key.ts";
import type { ListPage, ListQuery } from "../../src/core/lists.ts";
import * as docs from "../docs/keys.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import { creating } from "../idempotency/creating.ts";
import type { Services } from "../services.ts";
import { answerList, readListQuery } from "./lists.ts";

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

/** Returns the requested page of a list of records in memory, in any order; ids sort by time. */
function pageOf<T extends { id: string }>(all: readonly T[], query: ListQuery): ListPage<T> {
  const { limit, order, after, before } = query;
  const sign = order === "asc" ? 1 : -1;
  const compare = (a: string, b: string) => (a < b ? -sign : a > b ? sign : 0);
  const found = all
    .filter(({ id }) => after === undefined || compare(id, after) > 0)
    .filter(({ id }) => before === undefined || compare(id, before) < 0)
    .toSorted((a, b) => compare(a.id, b.id));
  const records = before === undefined ? found.slice(0, limit) : found.slice(-limit);
  return { records, more: found.length > limit };
}
