import { expect, test } from "vitest";
import type { Connection } from "../../../src/runs/connection.ts";
import type { Upload, UploadPart } from "../../../src/runs/upload.ts";
import { begin, ceph, connectionOf, create, MIB, post, put, rig, stored } from "./upload-lab.ts";

test("an upload that is never sent or completed is removed when it expires", async () => {
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

test("rejects an upload with the reason, and repeating one with its Idempotency-Key creates no second", async () => {
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
        Authorization: "Bearer key-of-alpha",
        "Content-Type": "application/json",
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
