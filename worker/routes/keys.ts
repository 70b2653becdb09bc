import { MediaError } from "../../src/core/errors.ts";
import { type NewApiKey, parseKeyRequest, parseRollRequest } from "../../src/core/key.ts";
import type { ListPage, ListQuery } from "../../src/core/lists.ts";
import { OPERATOR } from "../auth/key-ring.ts";
import { PROJECTS_PATH } from "../auth/operator.ts";
import * as docs from "../docs/keys.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import { creating } from "../idempotency/creating.ts";
import type { Services } from "../services.ts";
import { answerList, readListQuery } from "./lists.ts";

/** Adds the routes of API keys. */
export function addKeyRoutes(app: Api, services: Services): void {
  const { managed_keys: keys, keys: ring, settings } = services;

  serve(
    app,
    docs.createKey,
    creating<NewApiKey>(services, {
      sort: "key",
      make: async (request, c, id) =>
        keys.create(c.get("principal"), id, parseKeyRequest(await readJson(request))),
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
    const rolled = await keys.roll(c.get("principal"), id, keep_seconds);
    ring.forget(id);
    return c.json(rolled);
  });

  serve(app, docs.revokeKey, async (c) => {
    const id = idInPath(c, "key");
    await keys.revoke(c.get("principal"), id);
    ring.forget(id);
    return c.body(null, 204);
  });

  // Not in the document: npm run keys is its one client.
  app.get(PROJECTS_PATH, async (c) => {
    if (c.get("principal").id !== OPERATOR) throw new MediaError("forbidden", "Only an operator's key may.");
    return c.json(await keys.projects());
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
