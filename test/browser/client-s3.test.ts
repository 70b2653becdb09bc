import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PresignRequest } from "../../src/storage/s3-sign.ts";
import { presignS3 } from "../../src/storage/s3-sign.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { type Ceph, startCeph } from "../s3/ceph.ts";
import { type S3Proxy, startProxy } from "../s3/proxy.ts";
import { type ClientLab, openClientLab } from "./client-rig.ts";

const MB = 2 ** 20;
const SECRETS = ["TESTACCESSKEY", "test/secret+key="];
let rig: ClientLab;
let ceph: Ceph;
let proxy: S3Proxy;
beforeAll(async () => {
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
});
afterAll(async () => {
  await rig?.lab.page.evaluate(() => kit.client.close());
  await rig?.close();
  await proxy?.close();
  await ceph?.stop();
});

/** Opens a client on the blank page, with the bucket by way of the proxy: by its keys, or by URLs that the test signs. */
const open = (how: "keys" | "signed" | "single" | "none" = "keys") =>
  rig.lab.page.evaluate(
    async ({ connection, how }) => {
      const { openClientKit } = await import("./client.page.ts");
      const sign = (request: PresignRequest) =>
        (Reflect.get(globalThis, "signRequest") as (given: PresignRequest) => Promise<string>)(request);
      const connections = {
        keys: [{ id: "conn_main", ...connection }],
        signed: [{ id: "conn_main", sign }],
        single: [{ id: "conn_main", sign, parts: false }],
        none: [],
      }[how];
      openClientKit({ name: "s3", encoder_workers: 2, connections });
    },
    { connection: { ...ceph.connection, endpoint: proxy.url }, how },
  );
const reopen = async (how?: Parameters<typeof open>[0]) => {
  await rig.lab.page.goto(rig.lab.url);
  await open(how);
};
const object = async (key: string) => {
  const answer = await ceph.ask("pages", { method: "GET", key });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, mime: answer.headers.get("content-type"), bytes };
};
/** Numbers of the parts that the only unfinished upload has. */
const partsThere = async (key: string) => {
  const listed = await ceph.ask("pages", { method: "GET", key: "", query: { uploads: "" } });
  const uploadId = /<UploadId>(.*?)<\/UploadId>/.exec(await listed.text())?.[1];
  if (!uploadId) return [];
  const answer = await ceph.ask("pages", { method: "GET", key, query: { uploadId } });
  return [...(await answer.text()).matchAll(/<PartNumber>(\d+)</g)].map(([, part]) => Number(part));
};
const parts = () => proxy.log.filter(({ method }) => method === "PUT").map(({ part }) => part);
const begun = () =>
  proxy.log.filter(({ method, path }) => method === "POST" && /[?&]uploads=/.test(path)).length;

/** Puts bytes of a pattern by an upload step. */
const upload = (key: string, size: number) =>
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
const pattern = (size: number) =>
  Buffer.concat(Array.from({ length: Math.ceil(size / MB) }, (_, n) => Buffer.alloc(MB, n + 1))).subarray(
    0,
    size,
  );
/** Runs a task whose output, a wave of sound, has two parts. */
const wave = (key: string) =>
  rig.lab.page.evaluate(async (output) => {
    const input = await kit.file("/files/tone.m4a");
    const request = { input, kind: "audio", options: { format: "wav" }, output } as const;
    return kit.client.wait(await kit.client.tasks.create(request));
  }, `s3://pages/${key}`);
const wait = (id: string) => rig.lab.page.evaluate((run) => kit.client.wait(run), id);

beforeEach(async () => {
  proxy.fail(null);
  await reopen();
  return async () => {
    proxy.fail(null);
    expect(await ceph.unfinished("pages")).toEqual([]);
    // What the network refused, which the browser itself says.
    const said = rig.lab.complaints.splice(0).filter((text) => !text.startsWith("Failed to load resource"));
    expect(said).toEqual([]);
  };
});

test("a task's output goes to the bucket, is here too, and no key is stored", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client } = kit;
    const input = await kit.file("/files/clip.mp4");
    const output = "s3://pages/films/my clip+é.mp4";
    const task = await client.tasks.create({ input, kind: "video", options: { width: 80 }, output });
    const done = await client.wait(task);
    if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
    const stored: unknown[] = [];
    for (const { name = "" } of await indexedDB.databases()) {
      const db = await new Promise<IDBDatabase>((resolve) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
      });
      for (const store of db.objectStoreNames) {
        const all = db.transaction(store).objectStore(store).getAll();
        stored.push(await new Promise((resolve) => (all.onsuccess = () => resolve(all.result))));
      }
      db.close();
    }
    const bytes = await kit.base64(await (await client.output(done)).blob());
    return { task, done, bytes, stored: JSON.stringify(stored) };
  });
  const { status, mime, bytes } = await object("films/my clip+é.mp4");
  expect([status, mime, bytes.toString("base64") === seen.bytes]).toEqual([200, "video/mp4", true]);
  expect([seen.task.output, seen.done.output]).toEqual(Array(2).fill("s3://pages/films/my clip+é.mp4"));
  expect(seen.done.steps.at(-1)).toMatchObject({
    progress: 100,
    output: {
      url: "s3://pages/films/my clip+é.mp4",
      filesize: bytes.length,
      width: 80,
      etag: expect.any(String),
    },
  });
  expect(seen.stored).toContain(seen.task.id);
  for (const secret of SECRETS) expect(seen.stored).not.toContain(secret);
});

test("adaptive video goes up as many files, the master playlist last, and an object is read by ranges as input", async () => {
  await ceph.ask("pages", {
    method: "PUT",
    key: "in/film é.mp4",
    body: new Blob([await object("films/my clip+é.mp4").then(({ bytes }) => new Uint8Array(bytes))]),
  });
  proxy.fail(null);
  const done = await rig.lab.page.evaluate(async () => {
    const [input, output] = ["s3://pages/in/film é.mp4", "s3://pages/hls/all.m3u8"];
    const task = await kit.client.tasks.create({ input, kind: "adaptive_video", output });
    const done = await kit.client.wait(task);
    const local = await kit.client.output(done).catch(() => null);
    return { done, url: await local?.url(), names: local?.files.map(({ name }) => name) ?? [] };
  });
  expect(done.done.error).toBe(null);
  const ranges = proxy.log.filter(({ method, path }) => method === "GET" && path.includes("/in/"));
  expect(ranges.length).toBeGreaterThan(0);
  expect(ranges.every(({ headers }) => headers.range?.startsWith("bytes="))).toBe(true);
  const put = proxy.log
    .filter(({ method }) => method === "PUT")
    .map(({ path }) => path.slice("/pages/hls/".length));
  expect(put.at(-1)).toBe("all.m3u8");
  expect(put.length).toBe(done.names.length);
  const master = (await object("hls/all.m3u8")).bytes.toString();
  const playlists = master.split("\n").filter((line) => line && !line.startsWith("#"));
  expect(playlists.length).toBeGreaterThan(0);
  for (const name of playlists) expect((await object(`hls/${name}`)).mime).toMatch(/mpegurl/i);
  const renditions = done.done.steps.at(-1)?.output?.renditions ?? [];
  expect(renditions.map(({ url }) => url)).toEqual(playlists.map((name) => `s3://pages/hls/${name}`));
  expect(done.url).toMatch(/^blob:/);
});

test("an upload goes on after a reload, and sends no part again that is there", async () => {
  const size = 16 * MB + 5;
  proxy.fail(({ part }) => (part !== null && part > 2 ? "hold" : null));
  const id = await upload("resumed", size);
  await expect.poll(() => partsThere("resumed"), { timeout: 60_000, interval: 100 }).toEqual([1, 2]);
  await rig.lab.page.goto(rig.lab.url);
  proxy.fail(null);
  await open();
  expect((await wait(id)).error).toBe(null);
  expect(begun()).toBe(0);
  expect(parts().sort()).toEqual([3, 4]);
  const { bytes, mime } = await object("resumed");
  expect([bytes.equals(pattern(size)), mime]).toEqual([true, "video/mp4"]);
});

test("the network gone during an upload is a clear error, and a retry goes on from there without encoding again", async () => {
  proxy.fail(({ part }) => (part !== null && part > 1 ? "cut" : null));
  const failed = await wave("tone.wav");
  expect([failed.status, failed.error]).toEqual([
    "failed",
    {
      kind: "upload_failed",
      message: `The storage at ${new URL(proxy.url).host} could not be reached.`,
      retryable: true,
      step_id: failed.steps[3]?.id,
    },
  ]);
  expect(await ceph.unfinished("pages")).toEqual(["tone.wav"]);
  proxy.fail(null);
  const again = await rig.lab.page.evaluate(async (id) => {
    const done = await kit.client.wait(await kit.client.tasks.retry(id));
    const bytes = await (await (await kit.client.output(done)).blob()).arrayBuffer();
    return { done, hash: [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))] };
  }, failed.id);
  expect([again.done.status, again.done.error]).toEqual(["succeeded", null]);
  expect([begun(), parts().sort()]).toEqual([0, [2]]);
  const { bytes } = await object("tone.wav");
  expect(bytes.length).toBeGreaterThan(5 * MB);
  expect([...createHash("sha256").update(bytes).digest()]).toEqual(again.hash);
  const output = again.done.steps[2]?.output;
  expect(output?.url).toBe(`opfs:/s3/out/${again.done.id}/tone.wav`);
});

test("an upload of a page that is offline waits until it is not", async () => {
  // Loaded while there is a network.
  await rig.lab.page.evaluate(() => kit.client.tasks.list());
  await rig.lab.context.setOffline(true);
  const id = await upload("offline", 6 * MB);
  const status = () => rig.lab.page.evaluate(async (run) => (await kit.client.steps.get(run)).status, id);
  await expect.poll(status, { timeout: 20_000 }).toBe("processing");
  expect(proxy.log).toEqual([]);
  await rig.lab.context.setOffline(false);
  expect((await wait(id)).error).toBe(null);
  expect((await object("offline")).bytes.equals(pattern(6 * MB))).toBe(true);
});

test("nothing is left in the bucket of an upload that is cancelled or refused, or that failed and is deleted", async () => {
  proxy.fail(({ part }) => (part === 3 ? { status: 503 } : null));
  const cancelled = await upload("cancelled", 11 * MB);
  await expect.poll(() => proxy.log.some(({ part }) => part === 3), { timeout: 20_000 }).toBe(true);
  await rig.lab.page.evaluate((id) => kit.client.steps.cancel(id), cancelled);
  await expect.poll(() => ceph.unfinished("pages"), { timeout: 20_000 }).toEqual([]);

  proxy.fail(({ part }) => (part === 2 ? { status: 403, code: "AccessDenied" } : null));
  const { error } = await wait(await upload("refused", 11 * MB));
  expect([error?.kind, error?.retryable]).toEqual(["upload_forbidden", false]);
  expect(await ceph.unfinished("pages")).toEqual([]);

  await reopen("signed");
  const failed = await wave("deleted.wav");
  expect(failed.error?.kind).toBe("upload_failed");
  expect(await ceph.unfinished("pages")).toEqual(["deleted.wav"]);
  await rig.lab.page.evaluate((id) => kit.client.tasks.delete(id), failed.id);
  expect(await ceph.unfinished("pages")).toEqual([]);
  const stored = await rig.lab.page.evaluate(() => kit.stored());
  expect(stored.filter((path) => path.includes(failed.id))).toEqual([]);
});

test("with signed URLs the page holds no key: in parts, in one request, and what is not signed is an error", async () => {
  await reopen("signed");
  const size = 6 * MB;
  expect((await wait(await upload("signed", size))).error).toBe(null);
  expect([begun(), parts().sort()]).toEqual([1, [1, 2]]);
  expect((await object("signed")).bytes.equals(pattern(size))).toBe(true);
  const probe = await rig.lab.page.evaluate(async () => {
    const input = { url: "s3://pages/films/my clip+é.mp4" };
    return kit.client.wait(await kit.client.steps.create({ kind: "probe", input }));
  });
  expect(probe.output).toMatchObject({ format: "mp4", width: 80, url: "s3://pages/films/my clip+é.mp4" });

  await reopen("single");
  proxy.fail(null);
  expect((await wait(await upload("single", size))).error).toBe(null);
  expect(parts()).toEqual([null]);
  expect((await object("single")).bytes.equals(pattern(size))).toBe(true);
  const refused = await rig.lab.page.evaluate(async () => {
    const options = { url: "s3://elsewhere/key" };
    return kit.client.wait(
      await kit.client.steps.create({ kind: "upload", input: new Blob(["a"]), options }),
    );
  });
  expect(refused.error).toMatchObject({
    kind: "upload_failed",
    message: "The page could not have the request to the storage signed.",
  });
});

test("what has no connection is refused at once, and so is what no connection is for", async () => {
  const kinds = () =>
    rig.lab.page.evaluate(async () => {
      const { client } = kit;
      const kindOf = (work: Promise<unknown>) =>
        work.then(
          () => null,
          (thrown: unknown) => [Reflect.get(Object(thrown), "kind"), Reflect.get(Object(thrown), "param")],
        );
      const input = new Blob(["a"]);
      const url = "s3://pages/key";
      return [
        await kindOf(client.tasks.create({ input, kind: "image", output: url })),
        await kindOf(client.tasks.create({ input: url, kind: "image" })),
        await kindOf(client.steps.create({ kind: "upload", input, options: { url } })),
        await kindOf(
          client.steps.create({ kind: "upload", input, options: { url, connection_id: "conn_other" } }),
        ),
        await kindOf(client.tasks.create({ input, kind: "image", output: "s3://pages/a/../b" })),
      ];
    });
  expect((await kinds()).slice(3)).toEqual([
    ["connection_not_found", "options.connection_id"],
    ["invalid_output", "output"],
  ]);
  await reopen("none");
  expect((await kinds()).slice(0, 4)).toEqual([
    ["connection_required", "output"],
    ["connection_required", "input"],
    ["connection_required", "options.connection_id"],
    ["connection_not_found", "options.connection_id"],
  ]);
});
