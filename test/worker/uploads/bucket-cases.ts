import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { Connection } from "../../../src/runs/connection.ts";
import type { UploadPart } from "../../../src/runs/upload.ts";
import { createS3Bucket } from "../../../src/storage/s3/bucket.ts";
import { completeUpload } from "../../../src/storage/s3/objects.ts";
import { createS3Signer } from "../../../src/storage/s3/s3-sign.ts";
import { clip } from "../../fixtures/clips.ts";
import {
  begin,
  bytes,
  ceph,
  connection,
  connectionOf,
  create,
  MIB,
  post,
  put,
  putAll,
  rig,
} from "./upload-lab.ts";

const LOST = 200_000;

test.each([
  { name: "in one request", size: 100_000 },
  { name: "in parts", size: 16 * MIB + 100_000 },
  { name: "in parts, with the answer to its completion lost", size: 16 * MIB + LOST },
])("a page uploads a file straight into a bucket, $name", async ({ size }) => {
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
  if (size < MIB) {
    const wrong = await post(`/uploads/${upload.id}/complete`, { parts: [{ part: 1, etag: "another" }] });
    expect([wrong.status, wrong.json.kind]).toEqual([400, "request_invalid"]);
  }
  const key = output.slice("s3://bucket-in/".length);
  if (size === 16 * MIB + LOST) {
    const bucket = createS3Bucket(createS3Signer(ceph.connection, "bucket-in"));
    const id = new URL(part.url).searchParams.get("uploadId") ?? "";
    const whole_parts = parts.map(({ part, etag }) => ({ part, etag: etag.replaceAll('"', ""), size: null }));
    await completeUpload({ bucket, key, id }, whole_parts, size);
  }
  // The completion names the parts that the page saw, or relies on those that the storage lists.
  const done = await post(`/uploads/${upload.id}/complete`, size < MIB ? { parts } : {});
  expect([done.json.message, done.json.status]).toEqual([undefined, "stored"]);
  const object = await ceph.ask("bucket-in", { method: "GET", key });
  expect([object.headers.get("content-type"), object.headers.get("etag")]).toEqual([
    "video/mp4",
    `"${done.json.etag}"`,
  ]);
  expect(Buffer.compare(new Uint8Array(await object.arrayBuffer()), whole)).toBe(0);
  expect(await ceph.unfinished("bucket-in")).toEqual([]);
  // A stored object belongs to the caller, so deleting the upload keeps it.
  expect((await rig.call(`/uploads/${upload.id}`, { method: "DELETE" })).status).toBe(204);
  expect((await ceph.ask("bucket-in", { method: "HEAD", key })).status).toBe(200);
});

test("reads an upload in a bucket through its own connection, wherever the output goes", async () => {
  const whole = new Uint8Array(await readFile(await clip("wav")));
  const other = await create<Connection>("/connections", { ...connectionOf("Second") });
  const upload = await begin({
    size: whole.length,
    content_type: "audio/wav",
    output: "s3://bucket-in/second.wav",
    connection_id: other.id,
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
