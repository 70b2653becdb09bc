import {
  ApiKey,
  KeyRequest,
  NewApiKey,
  parseKeyRequest,
  parseRollRequest,
  RollRequest,
} from "../../src/runs/key.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import { PROJECTS_PATH } from "../auth/bearer.ts";
import { OPERATOR } from "../auth/key-ring.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, idInPath, serve } from "../http/context.ts";
import type { Services } from "../services.ts";
import { creationHandler } from "./creation.ts";
import { answerList, listParameters, readListQuery } from "./lists.ts";
import { idParameter, operation } from "./openapi.ts";

const tag = "Keys";

const KEY = {
  id: "key_01kaggm8q0fzr2n5v3x7c1d9jb",
  object: "key",
  name: "Web shop",
  scopes: ["read", "write"],
  created_at: 1_795_170_600_000,
  last_used_at: 1_795_171_200_000,
};
const READER = { ...KEY, name: "Dashboard", scopes: ["read"], last_used_at: null };
const SECRET = { secret: "fw_live_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ01234" };

const one = idParameter("key", KEY.id);

/** Adds the routes of API keys. */
export function addKeyRoutes(app: Api, services: Services): void {
  const { managed_keys: keys, keys: ring, settings } = services;

  serve(
    app,
    operation({
      method: "post",
      path: "/keys",
      operationId: "createKey",
      creates: true,
      tag,
      summary: "Create a key",
      description:
        "Creates an API key in the project of the requesting key. It can only have scopes of the requesting key; otherwise, or when the project has its maximum of keys, the response is `forbidden`. Only this response contains the secret: the service stores a hash of it, so the repeated response to an `Idempotency-Key` lacks it.",
      body: {
        schema: KeyRequest,
        examples: { usual: { name: "Web shop" }, reader: { name: "Dashboard", scopes: ["read"] } },
      },
      answers: {
        201: {
          description: "The key, with its secret.",
          schema: NewApiKey,
          examples: { usual: { ...KEY, last_used_at: null, ...SECRET }, reader: { ...READER, ...SECRET } },
        },
      },
      errors: ["request_invalid", "payload_too_large"],
    }),
    creationHandler<NewApiKey>(services, {
      sort: "key",
      create: async (request, c, id) =>
        keys.create(c.get("principal"), id, parseKeyRequest(await readJson(request))),
      // The secret of an existing key is unknown, so a repeated request replaces the key.
      find: async () => null,
      stored: ({ secret: _, ...key }) => key,
    }),
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/keys",
      operationId: "listKeys",
      tag,
      summary: "List keys",
      description: "Returns the project's keys, newest first, except those of the setting `API_KEYS`.",
      parameters: listParameters("key", null, null, KEY.id),
      answers: {
        200: {
          description: "A page of keys.",
          schema: ApiKey,
          many: true,
          examples: { page: [KEY], empty: [] },
          headers: ["Link", "Has-More"],
        },
      },
      errors: ["request_invalid"],
    }),
    async (c) => {
      const query = readListQuery(c.req.url, "key");
      const all = await keys.list(c.get("project"));
      return answerList(c, baseUrl(c, settings), query, pageOf(all, query));
    },
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/keys/{id}",
      operationId: "getKey",
      tag,
      summary: "Get a key",
      parameters: one,
      answers: {
        200: {
          description: "The key, without its secret.",
          schema: ApiKey,
          examples: { used: KEY, unused: READER },
        },
      },
      errors: ["key_not_found"],
    }),
    async (c) => c.json(await keys.get(c.get("project"), idInPath(c, "key"))),
  );

  serve(
    app,
    operation({
      method: "post",
      path: "/keys/{id}/roll",
      operationId: "rollKey",
      tag,
      summary: "Roll a key",
      description:
        "Replaces a key's secret; only this response contains the new one. The previous secret stays valid for a while, so that its users can switch; at most four previous secrets do. The requesting key needs all scopes of the key.",
      parameters: one,
      body: {
        schema: RollRequest,
        examples: { a_day: {}, an_hour: { keep_seconds: 3600 }, at_once: { keep_seconds: 0 } },
      },
      answers: {
        200: {
          description: "The key, with its new secret.",
          schema: NewApiKey,
          examples: { rolled: { ...KEY, ...SECRET } },
        },
      },
      errors: ["request_invalid", "key_not_found", "payload_too_large"],
    }),
    async (c) => {
      const id = idInPath(c, "key");
      const { keep_seconds } = parseRollRequest(await readJson(c.req.raw));
      const rolled = await keys.roll(c.get("principal"), id, keep_seconds);
      ring.forget(id);
      return c.json(rolled);
    },
  );

  serve(
    app,
    operation({
      method: "delete",
      path: "/keys/{id}",
      operationId: "revokeKey",
      tag,
      summary: "Revoke a key",
      description:
        "Revokes a key with all its secrets: immediately for changes of keys, within 5 seconds for everything else. Its tasks continue.",
      parameters: one,
      answers: { 204: { description: "The key is gone." } },
      errors: ["key_not_found"],
    }),
    async (c) => {
      const id = idInPath(c, "key");
      await keys.revoke(c.get("principal"), id);
      ring.forget(id);
      return c.body(null, 204);
    },
  );

  app.get(PROJECTS_PATH, async (c) => {
    if (c.get("principal").id !== OPERATOR) throw errors.operatorOnly();
    return c.json(await keys.projects());
  });
}

/** Returns the requested page of a list of records in memory, in any order; ids sort by time. */
function pageOf<T extends { id: string }>(all: readonly T[], query: ListQuery): ListPage<T> {
  const { limit, order, after, before } = query;
  const sign = order === "asc" ? 1 : -1;
  const compare = (a: string, b: string) => (a < b ? -sign : a > b ? sign : 0);
  const matches = all
    .filter(({ id }) => after === undefined || compare(id, after) > 0)
    .filter(({ id }) => before === undefined || compare(id, before) < 0)
    .toSorted((a, b) => compare(a.id, b.id));
  const records = before === undefined ? matches.slice(0, limit) : matches.slice(-limit);
  return { records, more: matches.length > limit };
}
