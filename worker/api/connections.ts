import { toMediaError } from "../../src/media/errors.ts";
import {
  CONNECTION_KINDS,
  Connection,
  ConnectionChange,
  ConnectionRequest,
  ConnectionTest,
  ConnectionTestRequest,
  createConnection,
  parseConnectionChange,
  parseConnectionRequest,
  parseConnectionTest,
  parseSignRequest,
  Reencryption,
  SignedRequest,
  type SigningRule,
  SignRequest,
} from "../../src/runs/connection.ts";
import { checkSigning, signRequest, testConnection } from "../connections/s3.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, idInPath, serve } from "../http/context.ts";
import type { Services } from "../services.ts";
import { creationHandler } from "./creation.ts";
import { answerList, listParameters, readListQuery } from "./lists.ts";
import { idParameter, operation } from "./openapi.ts";

const SIGNING: SigningRule[] = [{ bucket: "my-bucket", prefix: "films/", methods: ["GET", "PUT"] }];

const CONNECTION_REQUESTS: Record<string, ConnectionRequest> = {
  aws: {
    name: "Archive",
    kind: "s3",
    endpoint: "https://s3.eu-central-1.amazonaws.com",
    region: "eu-central-1",
    access_key_id: "AKIAIOSFODNN7EXAMPLE",
    secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    signing: SIGNING,
  },
  self_hosted: {
    name: "Own server",
    kind: "s3",
    endpoint: "https://storage.example",
    region: "us-east-1",
    access_key_id: "AKIAIOSFODNN7EXAMPLE",
    secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    force_path_style: false,
    is_default: true,
  },
};

const CONNECTION_CHANGES: Record<string, ConnectionChange> = {
  another_name: { name: "Old archive" },
  another_key: {
    access_key_id: "AKIAI44QH8DHBEXAMPLE",
    secret_access_key: "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
  },
  make_default: { is_default: true },
  sign_for_pages: { signing: SIGNING },
};

const CONNECTION: Connection = {
  id: "conn_01kaggm8q0fzr2n5v3x7c1d9jb",
  object: "connection",
  name: "Archive",
  kind: "s3",
  endpoint: "https://s3.eu-central-1.amazonaws.com",
  region: "eu-central-1",
  access_key_id: "AKIAIOSFODNN7EXAMPLE",
  force_path_style: null,
  is_default: true,
  signing: SIGNING,
  created_at: 1_795_167_000_000,
  updated_at: 1_795_167_000_000,
};

const CONNECTION_TEST_REQUESTS: Record<string, ConnectionTestRequest> = {
  bucket: { bucket: "my-bucket" },
  folder: { bucket: "my-bucket", prefix: "media/" },
};

const CONNECTION_TESTS: Record<string, ConnectionTest> = {
  good: { object: "connection_test", ok: true, error: null },
  wrong_secret: {
    object: "connection_test",
    ok: false,
    error: {
      kind: "upload_forbidden",
      message:
        "storage.example refuses access to the bucket my-bucket: the signature is wrong, as happens with a wrong secret access key (it answered 403 SignatureDoesNotMatch).",
    },
  },
};

const REENCRYPTIONS: Record<string, Reencryption> = {
  done: { object: "reencryption", connections: 3, webhook_secrets: 2, reencrypted: 5, failed: [] },
  again: { object: "reencryption", connections: 3, webhook_secrets: 2, reencrypted: 0, failed: [] },
};

const SIGN_REQUESTS: Record<string, SignRequest> = {
  put: {
    method: "PUT",
    bucket: "my-bucket",
    key: "films/clip.mp4",
    content_type: "video/mp4",
    content_length: 3_120_400,
    seconds: 600,
  },
  read: { method: "GET", bucket: "my-bucket", key: "films/clip.mp4" },
};

const SIGNED_REQUEST: SignedRequest = {
  object: "signed_request",
  url: "https://my-bucket.s3.eu-central-1.amazonaws.com/films/clip.mp4?X-Amz-Expires=600&X-Amz-Signature=…",
  headers: { "content-type": "video/mp4" },
  expires_at: 1_795_167_600_000,
};

const tag = "Connections";
const one = idParameter("connection", CONNECTION.id);
const answer = { description: "The connection, without its secret.", schema: Connection };

/** Adds the routes of connections. */
export function addConnectionRoutes(app: Api, services: Services): void {
  const { connections, webhooks, outside, settings, id, now } = services;

  async function checkEndpoint({ endpoint }: { endpoint?: string | undefined }): Promise<void> {
    try {
      if (endpoint !== undefined) await outside.guard(endpoint);
    } catch (thrown) {
      throw errors.refusedUrl({ param: "endpoint", message: toMediaError(thrown).message });
    }
  }

  serve(
    app,
    operation({
      method: "post",
      path: "/connections",
      operationId: "createConnection",
      creates: true,
      tag,
      summary: "Store a connection",
      description:
        "Stores the credentials of S3-compatible storage, for inputs and outputs named `s3://<bucket>/<key>`. The secret is stored encrypted, and no response contains it. The project's first connection is its default.",
      body: { schema: ConnectionRequest, examples: CONNECTION_REQUESTS },
      answers: { 201: { ...answer, examples: { stored: CONNECTION } } },
      errors: ["request_invalid", "invalid_kind", "payload_too_large"],
    }),
    creationHandler<Connection>(services, {
      sort: "connection",
      async create(request, c, id) {
        const fields = parseConnectionRequest(await readJson(request));
        await checkEndpoint(fields);
        const connection = createConnection(fields, () => id, now());
        return connections.create(c.get("project"), connection, fields.secret_access_key);
      },
      find: (project, id) => connections.get(project, id),
    }),
  );

  serve(
    app,
    operation({
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
          schema: Connection,
          many: true,
          examples: { page: [CONNECTION], empty: [] },
          headers: ["Link", "Has-More"],
        },
      },
      errors: ["request_invalid", "invalid_kind"],
    }),
    async (c) => {
      const query = readListQuery(c.req.url, "connection");
      return answerList(c, baseUrl(c, settings), query, await connections.list(c.get("project"), query));
    },
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/connections/{id}",
      operationId: "getConnection",
      tag,
      summary: "Get a connection",
      parameters: one,
      answers: { 200: { ...answer, examples: { stored: CONNECTION } } },
      errors: ["connection_not_found"],
    }),
    async (c) => {
      const connection = await connections.get(c.get("project"), idInPath(c, "connection"));
      if (!connection) throw errors.notFound("connection");
      return c.json(connection);
    },
  );

  serve(
    app,
    operation({
      method: "patch",
      path: "/connections/{id}",
      operationId: "changeConnection",
      tag,
      summary: "Change a connection",
      description: "Changes the fields that the body names. Running tasks use the new values.",
      parameters: one,
      body: { schema: ConnectionChange, examples: CONNECTION_CHANGES },
      answers: { 200: { ...answer, examples: { stored: CONNECTION } } },
      errors: ["request_invalid", "connection_not_found", "payload_too_large"],
    }),
    async (c) => {
      const change = parseConnectionChange(await readJson(c.req.raw));
      await checkEndpoint(change);
      return c.json(await connections.change(c.get("project"), idInPath(c, "connection"), change));
    },
  );

  serve(
    app,
    operation({
      method: "post",
      path: "/connections/reencrypt",
      operationId: "reencryptConnections",
      tag,
      summary: "Re-encrypt all secrets",
      description:
        "Encrypts every secret of the project with the newest of the service's keys. After a key rotation, once `failed` is empty, the older keys can be removed. A secret is also re-encrypted when its connection is next used.",
      answers: {
        200: {
          description: "The number of secrets, and those that failed.",
          schema: Reencryption,
          examples: REENCRYPTIONS,
        },
      },
      errors: [],
    }),
    async (c) => {
      const project = c.get("project");
      const keys = await connections.reencrypt(project);
      const secrets = await webhooks.reencrypt(project);
      const reencrypted = keys.reencrypted + secrets.reencrypted;
      const failed = [...keys.failed, ...secrets.failed];
      return c.json({ ...keys, ...secrets, reencrypted, failed } satisfies Reencryption);
    },
  );

  serve(
    app,
    operation({
      method: "post",
      path: "/connections/{id}/test",
      operationId: "testConnection",
      tag,
      summary: "Test a connection",
      description:
        "Writes a small object, reads it back and deletes it. The response says which of these failed, and why.",
      parameters: one,
      body: { schema: ConnectionTestRequest, examples: CONNECTION_TEST_REQUESTS },
      answers: {
        200: { description: "The result of the test.", schema: ConnectionTest, examples: CONNECTION_TESTS },
      },
      errors: ["request_invalid", "connection_not_found", "payload_too_large"],
    }),
    async (c) => {
      const project = c.get("project");
      const connection = await connections.open(project, idInPath(c, "connection"));
      const { bucket, prefix = "" } = parseConnectionTest(await readJson(c.req.raw));
      const key = `${prefix}framewright-test-${id("request", now())}`;
      return c.json(await testConnection(connection, bucket, key, outside));
    },
  );

  serve(
    app,
    operation({
      method: "post",
      path: "/connections/{id}/sign",
      operationId: "signRequest",
      tag,
      summary: "Sign a request to the storage",
      description:
        "Returns a URL, valid for an hour at most, by which a page that holds no keys reads, writes or deletes one object, whole or in parts. The connection's `signing` has to allow it; otherwise the answer is `forbidden`. Request it on your own server, which knows its users, not in the page.",
      parameters: one,
      body: { schema: SignRequest, examples: SIGN_REQUESTS },
      answers: {
        200: { description: "The URL.", schema: SignedRequest, examples: { put: SIGNED_REQUEST } },
      },
      errors: ["request_invalid", "connection_not_found", "payload_too_large"],
    }),
    async (c) => {
      const connection = await connections.open(c.get("project"), idInPath(c, "connection"));
      const request = parseSignRequest(await readJson(c.req.raw));
      checkSigning(connection, request);
      await checkEndpoint(connection);
      return c.json(await signRequest(connection, request, now()));
    },
  );

  serve(
    app,
    operation({
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
    }),
    async (c) => {
      await connections.remove(c.get("project"), idInPath(c, "connection"));
      return c.body(null, 204);
    },
  );
}
