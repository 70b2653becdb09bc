import { CONNECTION_KINDS } from "../../src/core/connection.ts";
import {
  CONNECTION,
  CONNECTION_CHANGES,
  CONNECTION_REQUESTS,
  CONNECTION_TEST_REQUESTS,
  CONNECTION_TESTS,
  REENCRYPTIONS,
  SIGN_REQUESTS,
  SIGNED_REQUEST,
} from "./connection-examples.ts";
import { operation } from "./operation.ts";
import { idParameter, listParameters } from "./parameters.ts";

const tag = "Connections";
const one = idParameter("connection", CONNECTION.id);
const answer = { description: "The connection, without its secret.", schema: "Connection" };

/** `POST /connections`. */
export const createConnection = operation({
  method: "post",
  path: "/connections",
  operationId: "createConnection",
  creates: true,
  tag,
  summary: "Store a connection",
  description:
    "Stores the credentials of S3-compatible storage, for inputs and outputs named `s3://<bucket>/<key>`. The secret is stored encrypted, and no response contains it. The project's first connection is its default.",
  body: { schema: "ConnectionRequest", examples: CONNECTION_REQUESTS },
  answers: { 201: { ...answer, examples: { stored: CONNECTION } } },
  errors: ["request_invalid", "invalid_kind", "payload_too_large"],
});

/** `GET /connections`. */
export const listConnections = operation({
  method: "get",
  path: "/connections",
  operationId: "listConnections",
  tag,
  summary: "List connections",
  description: "Returns the project's connections, newest first.",
  parameters: listParameters("connection", null, CONNECTION_KINDS, CONNECTION.id),
  answers: {
    200: {
      description: "A page of connections.",
      schema: "Connection",
      many: true,
      examples: { page: [CONNECTION], empty: [] },
      headers: ["Link", "Has-More"],
    },
  },
  errors: ["request_invalid", "invalid_kind"],
});

/** `GET /connections/{id}`. */
export const getConnection = operation({
  method: "get",
  path: "/connections/{id}",
  operationId: "getConnection",
  tag,
  summary: "Get a connection",
  parameters: one,
  answers: { 200: { ...answer, examples: { stored: CONNECTION } } },
  errors: ["connection_not_found"],
});

/** `PATCH /connections/{id}`. */
export const changeConnection = operation({
  method: "patch",
  path: "/connections/{id}",
  operationId: "changeConnection",
  tag,
  summary: "Change a connection",
  description: "Changes the fields that the body names. Running tasks use the new values.",
  parameters: one,
  body: { schema: "ConnectionChange", examples: CONNECTION_CHANGES },
  answers: { 200: { ...answer, examples: { stored: CONNECTION } } },
  errors: ["request_invalid", "connection_not_found", "payload_too_large"],
});

/** `POST /connections/reencrypt`. */
export const reencryptConnections = operation({
  method: "post",
  path: "/connections/reencrypt",
  operationId: "reencryptConnections",
  tag,
  summary: "Re-encrypt all secrets",
  description:
    "Encrypts every secret of the project with the newest of the service's keys. After a key rotation, once `failed` is empty, the older keys can be removed. A secret is also re-encrypted when its connection is next used.",
  answers: {
    200: { description: "What was done.", schema: "Reencryption", examples: REENCRYPTIONS },
  },
  errors: [],
});

/** `POST /connections/{id}/test`. */
export const testConnection = operation({
  method: "post",
  path: "/connections/{id}/test",
  operationId: "testConnection",
  tag,
  summary: "Test a connection",
  description:
    "Writes a small object, reads it back and deletes it. The response says which of these failed, and why.",
  parameters: one,
  body: { schema: "ConnectionTestRequest", examples: CONNECTION_TEST_REQUESTS },
  answers: {
    200: { description: "What came of it.", schema: "ConnectionTest", examples: CONNECTION_TESTS },
  },
  errors: ["request_invalid", "connection_not_found", "payload_too_large"],
});

/** `POST /connections/{id}/sign`. */
export const signRequest = operation({
  method: "post",
  path: "/connections/{id}/sign",
  operationId: "signRequest",
  tag,
  summary: "Sign a request to the storage",
  description:
    "Returns a URL, valid for an hour at most, by which a page that holds no keys reads, writes or deletes one object, whole or in parts. The connection's `signing` has to allow it; otherwise the answer is `forbidden`. Request it on your own server, which knows its users, not in the page.",
  parameters: one,
  body: { schema: "SignRequest", examples: SIGN_REQUESTS },
  answers: { 200: { description: "The URL.", schema: "SignedRequest", examples: { put: SIGNED_REQUEST } } },
  errors: ["request_invalid", "connection_not_found", "payload_too_large"],
});

/** `DELETE /connections/{id}`. */
export const deleteConnection = operation({
  method: "delete",
  path: "/connections/{id}",
  operationId: "deleteConnection",
  tag,
  summary: "Delete a connection",
  description:
    "Removes a connection and its secret. If it was the default, the oldest one that is left takes its place.",
  parameters: one,
  answers: { 204: { description: "The connection is gone." } },
  errors: ["connection_not_found", "connection_in_use"],
});
