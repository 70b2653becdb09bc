import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { UploadPart } from "../../../src/runs/upload.ts";
import { clip } from "../../fixtures/clips.ts";
import { begin, bytes, env, ingest, MIB, post, put, putAll, read, rig, stored } from "./upload-lab.ts";

test("a page uploads a file without a key, only with the agreed size and type, and a step reads it", async () => {
  const whole = new Uint8Array(await readFile(await clip("mp4")));
  const upload = await begin({ size: whole.length, name: "Mein Film + ü.mp4" });
  expect(upload).toMatchObject({ object: "upload", status: "waiting", output: null, etag: null });
  const [part] = upload.parts;
  if (!part) throw new Error("no part");
  expect(upload.parts).toEqual([
    { part: 1, size: whole.length, headers: { "content-type": "video/mp4" }, url: expect.any(String) },
  ]);
  const path = `/uploads/${upload.id}`;
  // There is nothing to complete yet.
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

  // A page can send a preflight and read the answer.
  const origin = { Origin: "https://page.example" };
  const preflight = await fetch(part.url, {
    method: "OPTIONS",
    headers: { ...origin, "Access-Control-Request-Method": "PUT" },
  });
  expect(preflight.headers.get("access-control-allow-methods")).toContain("PUT");
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

  // Another project does not see it.
  const key = "key-of-beta";
  for (const theirs of [
    await rig.call(path, { key }),
    await post(`${path}/complete`, { parts }, key),
    await rig.call(path, { method: "DELETE", key }),
  ])
    expect([theirs.status, theirs.json.kind]).toEqual([404, "media_not_found"]);
  const foreign = await post("/tasks", { input: upload.url, kind: "video" }, key);
  expect([foreign.status, foreign.json.kind, foreign.json.param]).toEqual([400, "invalid_input", "input"]);

  const step = await ingest(upload.url);
  expect(step.error).toBeNull();
  expect(step.output).toMatchObject({ format: "mp4", filesize: whole.length });
  expect(await read(step.output?.url ?? "")).toEqual(whole);
  // Outputs keep the name.
  expect(decodeURIComponent(step.output?.url ?? "")).toMatch(/Mein.*$/);

  expect((await rig.call(path, { method: "DELETE" })).status).toBe(204);
  expect((await rig.call(path)).status).toBe(404);
  expect(await stored()).not.toContain(`in/${upload.id}`);
  const gone = await ingest(upload.url);
  expect(gone.error?.kind).toBe("input_not_found");
});

test("uploads a long file in parts, in any order and repeatedly, or aborts it", async () => {
  const whole = bytes(16 * MIB + 3);
  const upload = await begin({ size: whole.length, content_type: "application/octet-stream" });
  expect(upload.parts.map(({ size, headers }) => ({ size, headers }))).toEqual([
    { size: 16 * MIB, headers: {} },
    { size: 3, headers: {} },
  ]);
  const [, last] = upload.parts as [UploadPart, UploadPart];
  expect((await put(last, Uint8Array.of(9, 9, 9))).status).toBe(200);
  const one = await post(`/uploads/${upload.id}/complete`, {});
  expect(one.json.message).toBe("The file is incomplete: 1 of its parts were not uploaded.");
  expect((await put(last, whole.slice(-2))).status).toBe(403);
  await putAll(upload, whole);
  const done = await post(`/uploads/${upload.id}/complete`, {});
  expect([done.status, done.json.status]).toEqual([200, "stored"]);
  const object = await env.MEDIA.get(`in/${upload.id}`);
  expect(object && Buffer.compare(new Uint8Array(await object.arrayBuffer()), whole)).toBe(0);

  const dropped = await begin({ size: whole.length });
  expect((await put(dropped.parts[1] as UploadPart, whole.slice(-3))).status).toBe(200);
  expect((await rig.call(`/uploads/${dropped.id}`, { method: "DELETE" })).status).toBe(204);
  expect((await put(dropped.parts[1] as UploadPart, whole.slice(-3))).status).toBe(403);
  expect(await stored()).not.toContain(`in/${dropped.id}`);
});
