import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Connection, SignedRequest } from "../../../src/runs/connection.ts";
import type { NewApiKey } from "../../../src/runs/key.ts";
import type { Task } from "../../../src/runs/task.ts";
import { type ApiHost, HOSTS, KEYS, type Refusal } from "./hosts.ts";

const SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const REQUEST = {
  name: "Archive",
  kind: "s3",
  endpoint: "https://s3.eu-central-1.amazonaws.com",
  region: "eu-central-1",
  access_key_id: "AKIAIOSFODNN7EXAMPLE",
  secret_access_key: SECRET,
};

describe.each(Object.entries(HOSTS))("%s", (name, open) => {
  let host: ApiHost;
  beforeAll(async () => {
    host = await open();
  });
  afterAll(() => host?.close());

  const make = async (more: object = {}, key?: string) =>
    (await host.ask<Connection>("POST", "/connections", { ...REQUEST, ...more }, key)).body;

  test("creates, reads, updates, lists and deletes a connection without ever showing its secret", async () => {
    const { status, body: created } = await host.ask<Connection>("POST", "/connections", REQUEST);
    expect(status).toBe(201);
    const { secret_access_key, ...shown } = REQUEST;
    expect(created).toEqual({
      ...shown,
      id: expect.stringMatching(/^conn_[0-9a-z]{26}$/),
      object: "connection",
      force_path_style: null,
      is_default: true,
      signing: [],
      created_at: expect.any(Number),
      updated_at: created.created_at,
    });
    expect((await host.ask("GET", `/connections/${created.id}`)).body).toEqual(created);

    const second = await make({ name: "Other", force_path_style: true });
    expect([second.is_default, second.force_path_style]).toEqual([false, true]);
    const changed = await host.ask<Connection>("PATCH", `/connections/${second.id}`, {
      name: "Another",
      secret_access_key: "another secret".replaceAll(" ", "-"),
      is_default: true,
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...second, name: "Another", is_default: true, updated_at: changed.body.updated_at },
    ]);
    expect(changed.body.updated_at).toBeGreaterThanOrEqual(second.updated_at);
    expect((await host.ask<Connection>("GET", `/connections/${created.id}`)).body.is_default).toBe(false);

    const page = await host.ask<Connection[]>("GET", "/connections?limit=1");
    expect(page.body.map(({ id }) => id)).toEqual([second.id]);
    expect(page.headers.get("has-more")).toBe("true");
    const next = await host.ask<Connection[]>("GET", `/connections?limit=1&after=${second.id}`);
    expect(next.body.map(({ id }) => id)).toEqual([created.id]);
    expect(next.headers.get("has-more")).toBe("false");
    expect(JSON.stringify([created, changed.body, page.body])).not.toMatch(
      /wJalr|another-secret|secret_access/,
    );

    expect((await host.ask("DELETE", `/connections/${second.id}`)).status).toBe(204);
    expect(await host.ask("GET", `/connections/${second.id}`)).toMatchObject({
      status: 404,
      body: { kind: "connection_not_found" },
    });
    expect((await host.ask<Connection>("GET", `/connections/${created.id}`)).body.is_default).toBe(true);
    expect((await host.ask("DELETE", `/connections/${created.id}`)).status).toBe(204);
    expect((await host.ask("GET", "/connections")).body).toEqual([]);
  });

  const FILMS = { bucket: "my-bucket", prefix: "films/" };
  const sign = (id: string, body: object, key?: string) =>
    host.ask<SignedRequest & Refusal>("POST", `/connections/${id}/sign`, body, key);

  test("signs only what the connection's rules allow: bucket, prefix, method, and an hour", async () => {
    const part = { bucket: "parts", methods: ["PUT"] };
    const { id } = await make({ signing: [{ ...FILMS, methods: ["GET", "PUT"] }, part] });
    const status = async (method: string, bucket: string, name: string, more: object = {}) =>
      (await sign(id, { method, bucket, key: name, ...more })).status;
    const upload = { query: { uploadId: "u" } };
    expect([
      await status("GET", "my-bucket", "films/a.mp4"),
      await status("HEAD", "my-bucket", "films/a.mp4"),
      await status("PUT", "my-bucket", "films/a.mp4", { seconds: 3600 }),
      await status("POST", "parts", "any", { query: { uploads: "" } }),
      await status("PUT", "parts", "any", { query: { uploadId: "u", partNumber: "1" } }),
      await status("GET", "parts", "any", upload),
      await status("DELETE", "parts", "any", upload),
    ]).toEqual(Array(7).fill(200));
    expect([
      await status("DELETE", "my-bucket", "films/a.mp4"),
      await status("DELETE", "parts", "any"),
      await status("DELETE", "parts", "any", { query: { uploadId: "" } }),
      await status("GET", "parts", "any"),
      await status("GET", "my-bucket", "film"),
      await status("GET", "my-bucket", "private/films/a.mp4"),
      await status("GET", "my-bucket2", "films/a.mp4"),
      await status("PUT", "other-bucket", "films/a.mp4"),
    ]).toEqual(Array(8).fill(403));
    expect([
      await status("GET", "my-bucket", "films/../private/a.mp4"),
      await status("GET", "my-bucket", "films/./a.mp4"),
      await status("GET", "my-bucket", "films/a.mp4", { seconds: 3601 }),
      await status("PUT", "my-bucket", "films/a.mp4", { query: { acl: "" } }),
      await status("GET", "my-bucket", "films/a.mp4", { query: { versionId: "1" } }),
    ]).toEqual(Array(5).fill(400));
    const { body } = await sign(id, { method: "GET", ...FILMS, prefix: undefined, key: "films/a.mp4" });
    const seconds = (body.expires_at - Date.now()) / 1000;
    expect([seconds > 3500, seconds <= 3600]).toEqual([true, true]);
    expect(new URL(body.url).searchParams.get("X-Amz-Expires")).toBe("3600");
    await host.ask("DELETE", `/connections/${id}`);
  });

  test("signs nothing without rules, and without the scope for it", async () => {
    const { id } = await make();
    const request = { method: "GET", bucket: "my-bucket", key: "films/a.mp4" };
    expect(await sign(id, request)).toMatchObject({
      status: 403,
      body: { kind: "forbidden", message: expect.stringContaining("signing") },
    });
    const change = { signing: [{ ...FILMS, methods: ["GET"] }] };
    expect((await host.ask("PATCH", `/connections/${id}`, change)).body).toMatchObject(change);
    expect((await sign(id, request)).status).toBe(200);
    const scopes = ["read", "write", "connections.sign"];
    const keyOf = async (...of: string[]) =>
      (await host.ask<NewApiKey>("POST", "/keys", { name: "n", scopes: of })).body.secret;
    const [signer, writer] = [await keyOf("connections.sign"), await keyOf("read", "write")];
    expect([(await sign(id, request, signer)).status, (await sign(id, request, writer)).status]).toEqual([
      200, 403,
    ]);
    // Neither key may redirect the connection, or a new default one.
    const mover = await keyOf(...scopes);
    const endpoint = "https://evil.example";
    for (const [method, path, body] of [
      ["PATCH", `/connections/${id}`, { endpoint }],
      ["PATCH", `/connections/${id}`, { is_default: true }],
      ["POST", "/connections", { ...REQUEST, endpoint, is_default: true }],
      ["DELETE", `/connections/${id}`, undefined],
    ] as const) {
      expect((await host.ask(method, path, body, mover)).status).toBe(403);
    }
    const manager = await keyOf("connections.manage");
    expect((await host.ask("PATCH", `/connections/${id}`, { name: "Moved" }, manager)).status).toBe(200);
    expect((await host.ask("DELETE", `/connections/${id}`, undefined, manager)).status).toBe(204);
  });

  test("hides another project's connections", async () => {
    const { id } = await make();
    for (const [method, body] of [["GET"], ["PATCH", { name: "Mine now" }], ["DELETE"]] as const) {
      const answer = await host.ask<Refusal>(method, `/connections/${id}`, body, KEYS.theirs);
      expect([answer.status, answer.body.kind], method).toEqual([404, "connection_not_found"]);
    }
    expect((await host.ask("GET", "/connections", undefined, KEYS.theirs)).body).toEqual([]);
    const output = await host.ask<Refusal>(
      "POST",
      "/tasks",
      { input: host.input, kind: "video", output: "s3://bucket/key.mp4" },
      KEYS.theirs,
    );
    expect([output.status, output.body.kind]).toEqual([400, "connection_required"]);
    expect((await host.ask("DELETE", `/connections/${id}`)).status).toBe(204);
  });

  // Nothing runs in memory.
  test.runIf(name === "in workerd")("deletes a connection only once no running task uses it", async () => {
    const { id } = await make();
    const task = await host.ask<Task>("POST", "/tasks", {
      input: host.input,
      kind: "video",
      output: "s3://bucket/key.mp4",
    });
    expect([task.status, task.body.output]).toEqual([201, "s3://bucket/key.mp4"]);
    const refused = await host.ask<Refusal>("DELETE", `/connections/${id}`);
    expect([refused.status, refused.body.kind]).toEqual([409, "connection_in_use"]);
    expect((await host.ask("POST", `/tasks/${task.body.id}/cancel`)).status).toBe(200);
    await expect.poll(async () => (await host.ask("DELETE", `/connections/${id}`)).status).toBe(204);
  });

  test.each<{ wrong: object; param: string; kind?: string }>([
    { wrong: { name: "" }, param: "name" },
    { wrong: { name: 5 }, param: "name" },
    { wrong: { name: "x".repeat(101) }, param: "name" },
    { wrong: { kind: undefined }, param: "kind" },
    { wrong: { kind: "ftp" }, param: "kind", kind: "invalid_kind" },
    { wrong: { endpoint: "s3.example.com" }, param: "endpoint" },
    { wrong: { endpoint: "ftp://s3.example.com" }, param: "endpoint" },
    { wrong: { endpoint: "https://user:word@s3.example.com" }, param: "endpoint" },
    { wrong: { endpoint: "https://s3.example.com/?x=1" }, param: "endpoint" },
    { wrong: { region: "" }, param: "region" },
    { wrong: { region: "eu\ncentral" }, param: "region" },
    { wrong: { access_key_id: "with space" }, param: "access_key_id" },
    { wrong: { access_key_id: undefined }, param: "access_key_id" },
    { wrong: { secret_access_key: "" }, param: "secret_access_key" },
    { wrong: { secret_access_key: "ü" }, param: "secret_access_key" },
    { wrong: { force_path_style: "yes" }, param: "force_path_style" },
    { wrong: { is_default: 1 }, param: "is_default" },
    { wrong: { bucket: "b" }, param: "bucket" },
    { wrong: { signing: "my-bucket" }, param: "signing" },
    { wrong: { signing: [{ bucket: "my-bucket" }] }, param: "signing" },
    { wrong: { signing: [{ bucket: "my-bucket", methods: [] }] }, param: "signing" },
    { wrong: { signing: [{ bucket: "my-bucket", methods: ["POST"] }] }, param: "signing" },
    { wrong: { signing: [{ bucket: "*", methods: ["GET"] }] }, param: "signing" },
    { wrong: { signing: Array(21).fill({ bucket: "my-bucket", methods: ["GET"] }) }, param: "signing" },
  ])("rejects $wrong", async ({ wrong, param, kind = "request_invalid" }) => {
    const { status, body } = await host.ask<Refusal>("POST", "/connections", { ...REQUEST, ...wrong });
    expect([status, body.kind, body.param]).toEqual([400, kind, param]);
    expect(JSON.stringify(body)).not.toContain(SECRET);
  });

  test.each([
    { change: {}, param: undefined },
    { change: { is_default: false }, param: "is_default" },
    { change: { kind: "s3" }, param: "kind" },
    { change: { endpoint: "x" }, param: "endpoint" },
  ])("rejects the change $change", async ({ change, param }) => {
    const { id } = await make();
    const { status, body } = await host.ask<Refusal>("PATCH", `/connections/${id}`, change);
    expect([status, body.kind, body.param]).toEqual([400, "request_invalid", param]);
    await host.ask("DELETE", `/connections/${id}`);
  });

  test.each(["status=queued", "kind=video", "limit=0", "after=conn_1", "secret=1"])(
    "rejects a list by %s",
    async (query) => {
      expect((await host.ask("GET", `/connections?${query}`)).status).toBe(400);
    },
  );
});
