import { expect } from "vitest";
import type { PresignRequest } from "../../src/storage/s3/s3-sign.ts";
import { presignS3 } from "../../src/storage/s3/s3-sign.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { type Ceph, startCeph } from "../s3/ceph.ts";
import { type S3Proxy, startProxy } from "../s3/proxy.ts";
import { type ClientLab, openClientLab } from "./client-rig.ts";

export const MB = 2 ** 20;

/** A page, a Ceph with the bucket `pages`, and a proxy in front of it that fails on demand; usable between start and stop. */
export let rig: ClientLab;
export let ceph: Ceph;
export let proxy: S3Proxy;

export async function startClientS3(): Promise<void> {
  [rig, ceph] = await Promise.all([openClientLab(), startCeph()]);
  proxy = await startProxy(ceph.connection.endpoint);
  await ceph.createBucket("pages", true);
  await rig.serve(await clip("mp4"), "clip.mp4");
  await rig.serve(await clip("png"), "picture.png");
  const tone = "-f lavfi -i sine=frequency=440:duration=30:sample_rate=48000 -ac 2 -c:a aac -b:a 64k";
  await rig.serve(await makeClip("m4a", tone.split(" ")), "tone.m4a");
  await rig.lab.context.exposeFunction("signRequest", (request: PresignRequest) => {
    const { bucket, key, query, content_type } = request;
    const unwanted = key === "deleted.wav" && query.partNumber === "2";
    if (bucket !== "pages" || unwanted) throw new Error("No.");
    const headers: Record<string, string> = content_type ? { "content-type": content_type } : {};
    return presignS3({ ...ceph.connection, endpoint: proxy.url }, bucket, { ...request, headers }, 60);
  });
}

export async function stopClientS3(): Promise<void> {
  await rig?.lab.page.evaluate(() => kit.client.close());
  await rig?.close();
  await proxy?.close();
  await ceph?.stop();
}

/** Opens a client with keys; returns a hook that checks that the test left nothing behind. */
export async function openFresh(): Promise<() => Promise<void>> {
  proxy.fail(null);
  await reopen();
  return async () => {
    proxy.fail(null);
    expect(await ceph.unfinished("pages")).toEqual([]);
    // Chromium logs every failed request itself.
    const others = rig.lab.complaints.splice(0).filter((text) => !text.startsWith("Failed to load resource"));
    expect(others).toEqual([]);
  };
}

/** Opens a client on the blank page; it reaches the bucket through the proxy, with keys or with URLs that the test signs. */
export const open = (
  how: "keys" | "signed" | "single" | "none" = "keys",
  more: { keepSeconds?: number } = {},
) =>
  rig.lab.page.evaluate(
    async ({ connection, how, more }) => {
      const { openClientKit } = await import("./client.page.ts");
      const sign = (request: PresignRequest) =>
        (Reflect.get(globalThis, "signRequest") as (request: PresignRequest) => Promise<string>)(request);
      const connections = {
        keys: [{ id: "conn_main", ...connection }],
        signed: [{ id: "conn_main", sign }],
        single: [{ id: "conn_main", sign, parts: false }],
        none: [],
      }[how];
      openClientKit({ name: "s3", encoderWorkers: 2, connections, ...more });
    },
    { connection: { ...ceph.connection, endpoint: proxy.url }, how, more },
  );
export const reopen = async (...how: Parameters<typeof open>) => {
  await rig.lab.page.goto(rig.lab.url);
  await open(...how);
};
export const object = async (key: string) => {
  const answer = await ceph.ask("pages", { method: "GET", key });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, mime: answer.headers.get("content-type"), bytes };
};
/** Part numbers of the only unfinished upload. */
export const partsThere = async (key: string) => {
  const listed = await ceph.ask("pages", { method: "GET", key: "", query: { uploads: "" } });
  const uploadId = /<UploadId>(.*?)<\/UploadId>/.exec(await listed.text())?.[1];
  if (!uploadId) return [];
  const answer = await ceph.ask("pages", { method: "GET", key, query: { uploadId } });
  return [...(await answer.text()).matchAll(/<PartNumber>(\d+)</g)].map(([, part]) => Number(part));
};
export const parts = () => proxy.log.filter(({ method }) => method === "PUT").map(({ part }) => part);
export const begun = () =>
  proxy.log.filter(({ method, path }) => method === "POST" && /[?&]uploads=/.test(path)).length;

/** Uploads patterned bytes with an upload step; returns its id. */
export const upload = (key: string, size: number) =>
  rig.lab.page.evaluate(
    async ({ url, size }) => {
      const blocks = Array.from({ length: Math.ceil(size / 2 ** 20) }, (_, n) =>
        new Uint8Array(2 ** 20).fill(n + 1),
      );
      const input = new Blob(blocks).slice(0, size, "video/mp4");
      const options = { url, connection_id: "conn_main" };
      return (await kit.client.steps.create({ kind: "upload", input, options })).id;
    },
    { url: `s3://pages/${key}`, size },
  );
export const pattern = (size: number) =>
  Buffer.concat(Array.from({ length: Math.ceil(size / MB) }, (_, n) => Buffer.alloc(MB, n + 1))).subarray(
    0,
    size,
  );
/** Runs a task whose WAV output is uploaded in two parts. */
export const wave = (key: string) =>
  rig.lab.page.evaluate(async (output) => {
    const input = await kit.file("/files/tone.m4a");
    const request = { input, kind: "audio", options: { format: "wav" }, output } as const;
    return kit.client.tasks.wait(await kit.client.tasks.create(request));
  }, `s3://pages/${key}`);
export const wait = (id: string) => rig.lab.page.evaluate((run) => kit.client.tasks.wait(run), id);
