import {
  type Connection,
  createConnection,
  parseConnectionChange,
  parseConnectionRequest,
  parseConnectionTest,
  parseSignRequest,
  type Reencryption,
} from "../../src/core/connection.ts";
import { MediaError, toMediaError } from "../../src/core/errors.ts";
import { checkSigning, signRequest } from "../connections/sign-request.ts";
import { testConnection } from "../connections/test-connection.ts";
import * as docs from "../docs/connections.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import { creating } from "../idempotency/creating.ts";
import type { Services } from "../services.ts";
import { answerList, readListQuery } from "./lists.ts";

/** Adds the routes of connections. */
export function addConnectionRoutes(app: Api, services: Services): void {
  const { connections, webhooks, outside, settings, id, now } = services;

  async function checkEndpoint({ endpoint }: { endpoint?: string | undefined }): Promise<void> {
    try {
      if (endpoint !== undefined) await outside.guard(endpoint);
    } catch (thrown) {
      const param = "endpoint";
      throw new MediaError("request_invalid", `${param}: ${toMediaError(thrown).message}`, { param });
    }
  }

  serve(
    app,
    docs.createConnection,
    creating<Connection>(services, {
      sort: "connection",
      async make(request, c, id) {
        const given = parseConnectionRequest(await readJson(request));
        await checkEndpoint(given);
        const connection = createConnection(given, () => id, now());
        return connections.create(c.get("project"), connection, given.secret_access_key);
      },
      find: (project, id) => connections.get(project, id),
    }),
  );

  serve(app, docs.listConnections, async (c) => {
    const query = readListQuery(c.req.url, "connection");
    return answerList(c, baseUrl(c, settings), query, await connections.list(c.get("project"), query));
  });

  serve(app, docs.getConnection, async (c) => {
    const found = await connections.get(c.get("project"), idInPath(c, "connection"));
    if (!found) throw new MediaError("connection_not_found", "There is no connection with that id.");
    return c.json(found);
  });

  serve(app, docs.changeConnection, async (c) => {
    const change = parseConnectionChange(await readJson(c.req.raw));
    await checkEndpoint(change);
    return c.json(await connections.change(c.get("project"), idInPath(c, "connection"), change));
  });

  serve(app, docs.reencryptConnections, async (c) => {
    const project = c.get("project");
    const one = await connections.reencrypt(project);
    const other = await webhooks.reencrypt(project);
    const reencrypted = one.reencrypted + other.reencrypted;
    const failed = [...one.failed, ...other.failed];
    return c.json({ ...one, ...other, reencrypted, failed } satisfies Reencryption);
  });

  serve(app, docs.testConnection, async (c) => {
    const project = c.get("project");
    const wanted = idInPath(c, "connection");
    const connection = await connections.open(project, wanted);
    const place = parseConnectionTest(await readJson(c.req.raw));
    const key = `${place.prefix ?? ""}framewright-test-${id("request", now())}`;
    return c.json(await testConnection(connection, place.bucket, key, outside));
  });

  serve(app, docs.signRequest, async (c) => {
    const connection = await connections.open(c.get("project"), idInPath(c, "connection"));
    const request = parseSignRequest(await readJson(c.req.raw));
    checkSigning(connection, request);
    await checkEndpoint(connection);
    return c.json(await signRequest(connection, request, now()));
  });

  serve(app, docs.deleteConnection, async (c) => {
    await connections.remove(c.get("project"), idInPath(c, "connection"));
    return c.body(null, 204);
  });
}
