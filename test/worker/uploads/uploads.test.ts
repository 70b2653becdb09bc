import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Connection } from "../../../src/core/connection.ts";
import type { Step } from "../../../src/core/step.ts";
import type { Upload, UploadPart } from "../../../src/core/upload.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Ceph, startCeph } from "../../s3/ceph.ts";
import { type Bindings, createRig } from "../engine/rig.ts";

const MIB = 2 ** 20;
const rig = createRig();
let ceph: Ceph;
let env: Bindings;
let connection: Connection;

beforeAll(async () => {
  [ceph] = await Promise.all([startCeph(), rig.server.listen()]);
  env = await rig.worker().getEnv();
  await ceph.createBucket("bucket-in", true);
  connection = await create("/connections", { ...{ name: "Ceph", kind: "s3" }, ...ceph.connection });
});
afterAll(async () => {
  await rig.server.close();
  await ceph?.stop();
});

const post = (path: string, body: unknown, key?: string) =>
  rig.call(path, { method: "POST", body, ...(key && { key }) });

async function create<T>(path: string, body: unknown): Promise<T> {
  const answer = await post(path, body);
  expect([answer.status, answer.json.message]).toEqual([201, undefined]);
  return answer.json;
}

// Of a period that is no divisor of a part's size.
const PATTERN = Uint8Array.from({ length: 251 }, (_, n) => (n * 97) % 251);
const bytes = (length: number) => Uint8Array.from(Buffer.alloc(length, PATTERN));
const begin = (body: object) => create<Upload>("/uploads", { content_type: "video/mp4", ...body });
const put = (
  { url, headers }: Pick<UploadPart, "url" | "headers">,
  body: Uint8Array<ArrayBuffer>,
  more = {},
) => fetch(url, { method: "PUT", headers: { ...headers, ...more }, body });
/** Puts all parts as a page does, the last one first. */
async function putAll({ parts }: Upload, whole: Uint8Array<ArrayBuffer>) {
  let end = whole.length;
  const put_parts: { part: number; etag: string }[] = [];
  for (const each of parts.toReversed()) {
    const answer = await put(each, whole.slice(end - each.size, end));
    expect(answer.status).toBe(200);
    put_parts.unshift({ part: each.part, etag: answer.headers.get("etag") ?? "" });
    end -= each.size;
  }
  expect(end).toBe(0);
  return put_parts;
}
const read = async (url: string) => new Uint8Array(await (await fetch(url)).arrayBuffer());
const stored = async () => (await env.MEDIA.list({ prefix: "in/" })).objects.map(({ key }) => key);
async function ingest(url: string): Promise<Step> {
  return rig.finishedStep((await create<Step>("/steps", { kind: "ingest", input: { url } })).id);
}

test("a page puts a file with no key, of just the size and type that were asked for, and a step reads it", async () => {
  const whole = new Uint8Array(await readFile(await clip("mp4")));
  const upload = await begin({ size: whole.length, name: "Mein Film + ü.mp4" });
  expect(upload).toMatchObject({ object: "upload", status: "waiting", output: null, etag: null });
  const [part] = upload.parts;
  if (!part) throw new Error("no part");
  expect(upload.parts).toEqual([
    { part: 1, size: whole.length, headers: { "content-type": "video/mp4" }, url: expect.any(String) },
  ]);
  const path = `/uploads/${upload.id}`;
  // Nothing is there to complete yet.
  expect((await post(`${path}/complete`, {})).json).toMatchObject({ kind: "request_invalid" });
  const early = await post("/steps", { kind: "ingest", input: { url: upload.url } });
  expect([early.status, early.json.kind]).toEqual([400, "invalid_input"]);

  const altered = (change: (url: URL) => void) => {
    const url = new URL(part.url);
    change(url);
    return { ...part, url: url.href };
  };
  const type = { "content-type": "text/html" };
  const answers = [
    await put(part, whole.slice(1)),
    await put(part, whole, type),
    await put(
      altered(({ searchParams }) => searchParams.set("size", "3")),
      whole.slice(0, 3),
    ),
    await put(
      altered(({ searchParams }) => searchParams.set("type", "text/html")),
      whole,
      type,
    ),
    await put(
      altered(({ searchParams }) => searchParams.set("expires", "9999999999")),
      whole,
    ),
    await put(
      altered(({ searchParams }) => searchParams.delete("signature")),
      whole,
    ),
    await put(
      altered((url) => (url.pathname = url.pathname.replace("parts/1", "parts/2"))),
      whole,
    ),
  ];
  for (const answer of answers)
    expect([answer.status, ((await answer.json()) as { kind: string }).kind]).toEqual([403, "forbidden"]);

  // A page asks beforehand whether it may, and sees what it was answered.
  const origin = { Origin: "https://page.example" };
  const asked = await fetch(part.url, {
    method: "OPTIONS",
    headers: { ...origin, "Access-Control-Request-Method": "PUT" },
  });
  expect(asked.headers.get("access-control-allow-methods")).toContain("PUT");
  const answer = await put(part, whole, origin);
  expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
  expect(answer.headers.get("access-control-expose-headers")).toContain("ETag");
  const wrong = { parts: [{ part: 1, etag: "another" }] };
  expect((await post(`${path}/complete`, wrong)).json).toMatchObject({
    kind: "request_invalid",
    param: "parts",
  });

  const parts = [{ part: 1, etag: answer.headers.get("etag") }];
  const done = await post(`${path}/complete`, { parts });
  expect(done).toMatchObject({ status: 200, json: { status: "stored", parts: [], url: upload.url } });
  expect(done.json.etag).toMatch(/./);
  expect((await post(`${path}/complete`, { parts })).json).toEqual(done.json);
  expect((await rig.call(path)).json).toEqual(done.json);
  expect((await put(part, whole)).status).toBe(403);

  // To another project it is as good as not there.
  const key = "key-of-beta";
  for (const theirs of [
    await rig.call(path, { key }),
    await post(`${path}/complete`, { parts }, key),
    await rig.call(path, { method: "DELETE", key }),
  ])
    expect([theirs.status, theirs.json.kind]).toEqual([404, "media_not_found"]);
  const taken = await post("/tasks", { input: upload.url, kind: "video" }, key);
  expect([taken.status, taken.json.kind, taken.json.param]).toEqual([400, "invalid_input", "input"]);

  const step = await ingest(upload.url);
  expect(step.error).toBeNull();
  expect(step.output).toMatchObject({ format: "mp4", filesize: whole.length });
  expect(await read(step.output?.url ?? "")).toEqual(whole);
  // The name is that of the outputs, too.
  expect(decodeURIComponent(step.output?.url ?? "")).toMatch(/Mein.*$/);

  expect((await rig.call(path, { method: "DELETE" })).status).toBe(204);
  expect((await rig.call(path)).status).toBe(404);
  expect(await stored()).not.toContain(`in/${upload.id}`);
  const gone = await ingest(upload.url);
  expect(gone.error?.kind).toBe("input_not_found");
});

test("a long file goes in parts, in any order and again, and may be given up", async () => {
  const whole = bytes(16 * MIB + 3);
  const upload = await begin({ size: whole.length, content_type: "application/octet-stream" });
  expect(upload.parts.map(({ size, headers }) => ({ size, headers }))).toEqual([
    { size: 16 * MIB, headers: {} },
    { size: 3, headers: {} },
  ]);
  const [first, last] = upload.parts as [UploadPart, UploadPart];
  expect((await put(last, Uint8Array.of(9, 9, 9))).status).toBe(200);
  const one = await post(`/uploads/${upload.id}/complete`, {});
  expect(one.json.message).toBe("The file is not there yet: 1 of its parts were not put.");
  expect((await put(first, whole.slice(1))).status).toBe(403);
  await putAll(upload, whole);
  const done = await post(`/uploads/${upload.id}/complete`, {});
  expect([done.status, done.json.status]).toEqual([200, "stored"]);
  const object = await env.MEDIA.get(`in/${upload.id}`);
  expect(object && Buffer.compare(new Uint8Array(await object.arrayBuffer()), whole)).toBe(0);

  const dropped = await begin({ size: whole.length });
  expect((await put(dropped.parts[1] as UploadPart, whole.slice(-3))).status).toBe(200);
  expect((await rig.call(`/uploads/${dropped.id}`, { method: "DELETE" })).status).toBe(204);
  expect((await put(dropped.parts[0] as UploadPart, whole.slice(0, 16 * MIB))).status).toBe(403);
  expect(await stored()).not.toContain(`in/${dropped.id}`);
});

test.each([
  ["in one request", 100_000],
  ["in parts", 16 * MIB + 100_000],
])("a page puts a file straight into a bucket, %s", async (_, size) => {
  const whole = bytes(size);
  const output = `s3://bucket-in/from a page/ü + ${size}.mp4`;
  const upload = await begin({ size, output });
  expect(upload).toMatchObject({ output, connection_id: connection.id, name: `ü + ${size}.mp4` });
  for (const { url } of upload.parts) {
    expect(url.startsWith(ceph.connection.endpoint)).toBe(true);
    expect(url).not.toContain(ceph.connection.secret_access_key);
  }
  const [part] = upload.parts as [UploadPart];
  expect((await put(part, whole.slice(1, part.size))).status).toBe(403);
  if (size < MIB) expect((await put(part, whole, { "content-type": "text/html" })).status).toBe(403);
  expect((await post(`/uploads/${upload.id}/complete`, {})).status).toBe(400);
  const parts = await putAll(upload, whole);
  // By what the page saw, or by what the storage knows.
  const done = await post(`/uploads/${upload.id}/complete`, size < MIB ? { parts } : {});
  expect([done.json.message, done.json.status]).toEqual([undefined, "stored"]);
  const key = output.slice("s3://bucket-in/".length);
  const object = await ceph.ask("bucket-in", { method: "GET", key });
  expect([object.headers.get("content-type"), object.headers.get("etag")]).toEqual([
    "video/mp4",
    `"${done.json.etag}"`,
  ]);
  expect(Buffer.compare(new Uint8Array(await object.arrayBuffer()), whole)).toBe(0);
  expect(await ceph.unfinished("bucket-in")).toEqual([]);
  // What is stored there is the caller's.
  expect((await rig.call(`/uploads/${upload.id}`, { method: "DELETE" })).status).toBe(204);
  expect((await ceph.ask("bucket-in", { method: "HEAD", key })).status).toBe(200);
});

test("a file in a bucket is read by the connection that it came by, wherever the output goes", async () => {
  const whole = new Uint8Array(await readFile(await clip("wav")));
  const other = await create<Connection>("/connections", { ...connectionOf("Second") });
  const upload = await begin({
    ...{ size: whole.length, content_type: "audio/wav" },
    ...{ output: "s3://bucket-in/second.wav", connection_id: other.id },
  });
  await putAll(upload, whole);
  expect((await post(`/uploads/${upload.id}/complete`, {})).json.status).toBe("stored");
  const output = "s3://bucket-in/second.mp3";
  const options = { format: "mp3" };
  const { id } = await create<{ id: string }>("/tasks", {
    input: upload.url,
    kind: "audio",
    options,
    output,
  });
  const task = await rig.finished(id);
  expect([task.error, task.output]).toEqual([null, output]);
  await rig.call(`/connections/${other.id}`, { method: "DELETE" });
  const gone = await post("/steps", { kind: "probe", input: { url: upload.url } });
  expect([gone.status, gone.json.kind]).toEqual([404, "connection_not_found"]);
});

const connectionOf = (name: string) => ({ ...{ name, kind: "s3" }, ...ceph.connection });

test("what is never put, or never completed, is gone when it expires", async () => {
  const size = 16 * MIB + 1;
  const uploads = [
    await begin({ size, seconds: 2 }),
    await begin({ size, seconds: 2, output: "s3://bucket-in/never.mp4" }),
  ];
  expect(await ceph.unfinished("bucket-in")).toEqual(["never.mp4"]);
  for (const { id, parts } of uploads) {
    await rig.until(
      () => rig.call(`/uploads/${id}`),
      ({ status }) => status === 404,
    );
    expect((await put(parts[1] as UploadPart, Uint8Array.of(1))).status).toBe(403);
    expect((await post(`/uploads/${id}/complete`, {})).status).toBe(404);
  }
  expect(await ceph.unfinished("bucket-in")).toEqual([]);
  expect(await stored()).not.toContain(`in/${uploads[0]?.id}`);
});

test("what cannot begin says why, and the same request makes one upload", async () => {
  const body = { size: 16 * MIB + 1, content_type: "video/mp4", output: "s3://bucket-in/again.mp4" };
  const wrong = await create<Connection>("/connections", {
    ...connectionOf("Wrong"),
    secret_access_key: "another/secret",
  });
  const answers = [
    await post("/uploads", { ...body, connection_id: wrong.id }),
    await post("/uploads", { ...body, output: "s3://no-such-bucket/a.mp4" }),
    await post("/uploads", { ...body, connection_id: "conn_unknown" }),
    await post("/uploads", { ...body }, "key-of-beta"),
    await post("/uploads", { size: 5e9 + 1, content_type: "video/mp4" }),
  ];
  expect(answers.map(({ json }) => [json.kind, json.param])).toEqual([
    ["request_invalid", "output"],
    ["request_invalid", "output"],
    ["connection_not_found", "connection_id"],
    ["connection_required", "output"],
    ["request_invalid", "size"],
  ]);
  expect(answers[0]?.json.message).toMatch(/secret access key/);
  const once = async () => {
    const answer = await rig.server.fetch("/uploads", {
      method: "POST",
      headers: {
        ...{ Authorization: "Bearer key-of-alpha", "Content-Type": "application/json" },
        "Idempotency-Key": "one-upload",
      },
      body: JSON.stringify(body),
    });
    return [answer.status, ((await answer.json()) as Upload).id];
  };
  const [, id] = await once();
  expect(await once()).toEqual([200, id]);
  expect(await ceph.unfinished("bucket-in")).toEqual(["again.mp4"]);
  await rig.call(`/uploads/${id}`, { method: "DELETE" });
  expect(await ceph.unfinished("bucket-in")).toEqual([]);
});
