import { operation } from "./operation.ts";
import { idParameter, listParameters } from "./parameters.ts";

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

/** `POST /keys`. */
export const createKey = operation({
  method: "post",
  path: "/keys",
  operationId: "createKey",
  creates: true,
  tag,
  summary: "Create a key",
  description:
    "Creates an API key in the project of the requesting key. It can only have scopes of the requesting key; otherwise, or when the project has its maximum of keys, the response is `forbidden`. Only this response contains the secret: the service stores a hash of it, so the repeated response to an `Idempotency-Key` lacks it.",
  body: {
    schema: "KeyRequest",
    examples: { usual: { name: "Web shop" }, reader: { name: "Dashboard", scopes: ["read"] } },
  },
  answers: {
    201: {
      description: "The key, with its secret.",
      schema: "NewKey",
      examples: { usual: { ...KEY, last_used_at: null, ...SECRET }, reader: { ...READER, ...SECRET } },
    },
  },
  errors: ["request_invalid", "payload_too_large"],
});

/** `GET /keys`. */
export const listKeys = operation({
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
      schema: "Key",
      many: true,
      examples: { page: [KEY], empty: [] },
      headers: ["Link", "Has-More"],
    },
  },
  errors: ["request_invalid"],
});

/** `GET /keys/{id}`. */
export const getKey = operation({
  method: "get",
  path: "/keys/{id}",
  operationId: "getKey",
  tag,
  summary: "Get a key",
  parameters: one,
  answers: {
    200: {
      description: "The key, without its secret.",
      schema: "Key",
      examples: { used: KEY, unused: READER },
    },
  },
  errors: ["key_not_found"],
});

/** `POST /keys/{id}/roll`. */
export const rollKey = operation({
  method: "post",
  path: "/keys/{id}/roll",
  operationId: "rollKey",
  tag,
  summary: "Roll a key",
  description:
    "Replaces a key's secret; only this response contains the new one. The previous secret stays valid for a while, so that its users can switch; at most four previous secrets do. The requesting key needs all scopes of the key.",
  parameters: one,
  body: {
    schema: "RollRequest",
    examples: { a_day: {}, an_hour: { keep_seconds: 3600 }, at_once: { keep_seconds: 0 } },
  },
  answers: {
    200: {
      description: "The key, with its new secret.",
      schema: "NewKey",
      examples: { rolled: { ...KEY, ...SECRET } },
    },
  },
  errors: ["request_invalid", "key_not_found", "payload_too_large"],
});

/** `DELETE /keys/{id}`. */
export const revokeKey = operation({
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
});
