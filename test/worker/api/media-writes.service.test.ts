import { request } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { type ApiHost, HOSTS } from "./hosts.ts";

const MIB = 2 ** 20;
const soon = () => Math.floor(Date.now() / 1000) + 600;

function bytesOf(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: size }, (_, index) => (index * 31 + seed * 7) % 251);
}

describe.each(Object.entries(HOSTS))("%s", (name, start) => {
  let host: ApiHost;
  let run: string;
  let folder: string;
  beforeAll(async () => {
    host = await start();
  });
  afterAll(() => host?.close());
  beforeEach(async () => {
    const { status, body } = await host.ask<Task>("POST", "/tasks", { input: host.input, kind: "video" });
    expect(status).toBe(201);
    run = body.id;
    folder = await host.signer.signFolder(`work/${run}/chunks/`, soon(), host.base);
  });

  interface Answer {
    size: number;
    etag: string;
    upload: string;
    kind: string;
    message: string;
    request_id: string;
  }

  async function send(
    method: string,
    url: string,
    body?: Uint8Array<ArrayBuffer> | string,
    headers: Record<string, string> = {},
  ) {
    const length: Record<string, string> =
      body === undefined ? {} : { "Content-Length": String(body.length) };
    const response = await host.send(url, {
      method,
      headers: { ...length, ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    return { status: response.status, answer: (text ? JSON.parse(text) : null) as Answer };
  }

  const json = { "Content-Type": "application/json" };
  const complete = (url: string, upload: string, parts: { part: number; etag: string }[]) =>
    send("POST", `${url}?upload=${encodeURIComponent(upload)}`, JSON.stringify({ parts }), json);
  const part = (url: string, upload: string, number: number, body: Uint8Array<ArrayBuffer>) =>
    send("PUT", `${url}?upload=${encodeURIComponent(upload)}&part=${number}`, body);
  const begin = async (url: string) =>
    (await send("POST", `${url}?uploads`, undefined, { "Content-Type": "video/mp4" })).answer.upload;

  async function read(key: string) {
    const response = await host.send(await host.signer.sign(key, soon(), host.base));
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, mime: response.headers.get("Content-Type"), bytes };
  }
  const isThere = async (key: string) => (await read(key)).status === 200;

  test.each([0, 1, 100_000, 6 * MIB])("stores a file of %i bytes", async (size) => {
    const bytes = bytesOf(size);
    const { status, answer } = await send("PUT", `${folder}0-video.mp4`, bytes, {
      "Content-Type": "video/mp4",
    });
    expect([status, answer]).toEqual([201, { size, etag: expect.stringMatching(/^[^"]+$/) }]);
    const stored = await read(`work/${run}/chunks/0-video.mp4`);
    expect([stored.status, stored.mime]).toEqual([200, "video/mp4"]);
    expect(Buffer.compare(stored.bytes, bytes)).toBe(0);
  });

  test("stores files in subfolders, and a second write replaces the first", async () => {
    const url = `${folder}720p/seg_00001.m4s`;
    const first = await send("PUT", url, bytesOf(10, 1), { "Content-Type": "video/iso.segment" });
    const second = await send("PUT", url, bytesOf(20, 2), { "Content-Type": "video/iso.segment" });
    expect(second.answer.etag).not.toBe(first.answer.etag);
    expect((await read(`work/${run}/chunks/720p/seg_00001.m4s`)).bytes).toEqual(bytesOf(20, 2));
  });

  test("accepts the parts of a file in any order, and a part sent twice replaces the first", async () => {
    const whole = bytesOf(13 * MIB);
    const url = `${folder}long.mp4`;
    const upload = await begin(url);
    expect(upload).toMatch(/./);
    const last = await part(url, upload, 3, whole.slice(12 * MIB));
    await part(url, upload, 1, bytesOf(6 * MIB, 9));
    const first = await part(url, upload, 1, whole.slice(0, 6 * MIB));
    const second = await part(url, upload, 2, whole.slice(6 * MIB, 12 * MIB));
    expect([first.status, Object.keys(first.answer)]).toEqual([200, ["etag"]]);
    expect(await isThere(`work/${run}/chunks/long.mp4`)).toBe(false);
    const parts = [first, second, last].map(({ answer }, index) => ({ part: index + 1, etag: answer.etag }));
    const done = await complete(url, upload, parts);
    expect([done.status, done.answer]).toEqual([201, { size: 13 * MIB, etag: expect.any(String) }]);
    const stored = await read(`work/${run}/chunks/long.mp4`);
    expect([stored.status, stored.mime]).toEqual([200, "video/mp4"]);
    expect(Buffer.compare(stored.bytes, whole)).toBe(0);
    expect((await complete(url, upload, parts)).answer.kind).toBe("media_not_found");
  });

  test("an aborted upload leaves nothing and accepts nothing more", async () => {
    const url = `${folder}dropped.mp4`;
    const upload = await begin(url);
    const { answer } = await part(url, upload, 1, bytesOf(100));
    expect((await send("DELETE", `${url}?upload=${encodeURIComponent(upload)}`)).status).toBe(204);
    expect((await complete(url, upload, [{ part: 1, etag: answer.etag }])).answer.kind).toBe(
      "media_not_found",
    );
    expect((await part(url, upload, 2, bytesOf(100))).answer.kind).toBe("media_not_found");
    expect(await isThere(`work/${run}/chunks/dropped.mp4`)).toBe(false);
  });

  test("rejects invalid lists of parts and leaves no file", async () => {
    const url = `${folder}wrong.mp4`;
    const upload = await begin(url);
    const small = await part(url, upload, 1, bytesOf(1000));
    const next = await part(url, upload, 2, bytesOf(1000));
    const parts = [small, next].map(({ answer }, index) => ({ part: index + 1, etag: answer.etag }));
    const wrong = [
      parts,
      [{ part: 1, etag: "of-no-part" }],
      [{ part: 7, etag: small.answer.etag }],
      parts.toReversed(),
      [],
    ];
    for (const each of wrong) {
      const { status, answer } = await complete(url, upload, each);
      expect([status, answer.kind]).toEqual([400, "request_invalid"]);
    }
    const unequal = await begin(url);
    const sizes = [6 * MIB, 5 * MIB, 1];
    const uneven: { part: number; etag: string }[] = [];
    for (const [index, size] of sizes.entries()) {
      const { answer } = await part(url, unequal, index + 1, bytesOf(size));
      uneven.push({ part: index + 1, etag: answer.etag });
    }
    expect((await complete(url, unequal, uneven)).answer.kind).toBe("request_invalid");
    expect(await isThere(`work/${run}/chunks/wrong.mp4`)).toBe(false);
  });

  test.each([
    { method: "PUT", query: "?part=1", headers: undefined },
    { method: "PUT", query: "?upload=x", headers: undefined },
    { method: "PUT", query: "?upload=x&part=0", headers: undefined },
    { method: "PUT", query: "?upload=x&part=10001", headers: undefined },
    { method: "PUT", query: "?upload=x&part=1.5", headers: undefined },
    { method: "PUT", query: "?upload=&part=1", headers: undefined },
    { method: "PUT", query: "", headers: { "Content-Type": "no type" } },
    { method: "POST", query: "", headers: undefined },
    { method: "POST", query: "?uploads", headers: { "Content-Type": "text/html\u00a0" } },
    { method: "POST", query: "?upload=x", headers: { "Content-Type": "application/json" } },
    { method: "DELETE", query: "", headers: undefined },
  ])("rejects $method $query", async ({ method, query, headers }) => {
    const { status, answer } = await send(
      method,
      `${folder}a.mp4${query}`,
      method === "DELETE" ? undefined : "{}",
      headers,
    );
    expect([status, answer]).toEqual([
      400,
      { kind: "request_invalid", message: expect.any(String), request_id: expect.stringMatching(/^req_/) },
    ]);
  });

  test("requires a Content-Length", async () => {
    const body = new Blob([bytesOf(10)]).stream();
    const init = { method: "PUT", body, duplex: "half" };
    const response = await host.send(`${folder}a.mp4`, init);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      kind: "request_invalid",
      message: "A Content-Length header is needed.",
    });
  });

  test("rejects a body over the limit", async () => {
    for (const url of [`${folder}a.mp4`, `${folder}a.mp4?upload=x&part=1`]) {
      const { status, answer } = await send("PUT", url, new Uint8Array(32 * MIB + 1));
      expect([status, answer.kind]).toEqual([413, "payload_too_large"]);
    }
    expect((await send("PUT", `${folder}most.mp4`, new Uint8Array(32 * MIB))).status).toBe(201);
  });

  test("write URLs cannot read, and read URLs cannot write", async () => {
    const url = `${folder}a.mp4`;
    expect((await send("PUT", url, bytesOf(10))).status).toBe(201);
    expect((await send("GET", url)).answer.kind).toBe("forbidden");
    const toRead = await host.signer.sign(`work/${run}/chunks/a.mp4`, soon(), host.base);
    for (const [method, query] of [
      ["PUT", ""],
      ["POST", "?uploads"],
      ["DELETE", "?upload=x"],
    ] as const) {
      const { status, answer } = await send(
        method,
        toRead + query,
        method === "DELETE" ? undefined : bytesOf(10),
      );
      expect([status, answer.kind]).toEqual([403, "forbidden"]);
    }
  });

  test("rejects writes outside the signed folder", async () => {
    const other = await host.ask<Task>("POST", "/tasks", { input: host.input, kind: "video" });
    const wrong = [
      folder.replace(run, other.body.id),
      folder.replace("/work/", "/out/"),
      folder.replace("/chunks/", "/chunks/..%2f..%2f"),
      folder.replace("/chunks/", "/chunks/%2e%2e%2f"),
      folder.replace(/\.(\d+)\//, (_, seconds) => `.${Number(seconds) + 1}/`),
      await host.signer.signFolder(`work/${run}/`, soon() - 601, host.base),
      `${host.base}/media/work/${run}/`,
    ];
    for (const each of wrong) {
      const { status, answer } = await send("PUT", `${each}a.mp4`, bytesOf(10));
      expect([each, status, answer.kind]).toEqual([each, 403, "forbidden"]);
    }
    expect((await send("PUT", folder, bytesOf(10))).status).toBe(403);
  });

  test("rejects writes to a finished run", async () => {
    const url = `${folder}a.mp4`;
    const upload = await begin(url);
    expect((await host.ask("POST", `/tasks/${run}/cancel`)).status).toBe(200);
    for (const [method, query] of [
      ["PUT", ""],
      ["PUT", `?upload=${encodeURIComponent(upload)}&part=1`],
      ["POST", "?uploads"],
      ["POST", `?upload=${encodeURIComponent(upload)}`],
    ] as const) {
      const { status, answer } = await send(method, url + query, bytesOf(10));
      expect([status, answer.kind, answer.message]).toEqual([
        403,
        "forbidden",
        "The run is over; nothing more can be stored in its folder.",
      ]);
    }
    const unknown = await host.signer.signFolder("work/task_01kbb1d3x4e8v0t6m9q2y5z7av/", soon(), host.base);
    expect((await send("PUT", `${unknown}a.mp4`, bytesOf(10))).status).toBe(403);
  });

  test.skipIf(name === "in memory")("aborts an incomplete upload when its run ends", async () => {
    const url = `${folder}open.mp4`;
    const upload = await begin(url);
    await part(url, upload, 1, bytesOf(1000));
    const done = await begin(url);
    const { answer } = await part(url, done, 1, bytesOf(2000));
    expect((await complete(url, done, [{ part: 1, etag: answer.etag }])).status).toBe(201);
    const put = async () =>
      host.bindings?.MEDIA.resumeMultipartUpload(`work/${run}/chunks/open.mp4`, upload).uploadPart(
        2,
        bytesOf(1000),
      );
    await put();
    expect((await host.ask("POST", `/tasks/${run}/cancel`)).status).toBe(200);
    await expect.poll(() => put().then(() => "there", String)).toContain("10024");
    expect(await isThere(`work/${run}/chunks/open.mp4`)).toBe(false);
  });

  test.skipIf(name === "in memory")("discards a truncated body", async () => {
    const url = new URL(`${folder}cut.mp4`);
    const whole = bytesOf(4 * MIB);
    const written = await send("PUT", url.href, bytesOf(10));
    expect(written.status).toBe(201);
    for (const at of [url, new URL(`${folder}new.mp4`)]) {
      await new Promise<void>((resolve) => {
        const sent = request(at, { method: "PUT", headers: { "Content-Length": whole.length } });
        sent.on("error", () => {});
        sent.on("close", () => resolve());
        sent.write(whole.subarray(0, 3 * MIB), () => sent.destroy());
      });
    }
    // A later write is answered only after the broken ones were handled.
    expect((await send("PUT", `${folder}after.mp4`, bytesOf(10))).status).toBe(201);
    expect((await read(`work/${run}/chunks/cut.mp4`)).bytes).toEqual(bytesOf(10));
    expect(await isThere(`work/${run}/chunks/new.mp4`)).toBe(false);
  });
});
