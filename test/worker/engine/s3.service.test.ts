import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { manifestEntries } from "../../../src/media/ffmpeg/manifest-entries.ts";
import type { Connection } from "../../../src/runs/connection.ts";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import { clip } from "../../fixtures/clips.ts";
import { makeClip, runFfprobe } from "../../fixtures/make-clip.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { noise, sha256, virtualFile } from "../../fixtures/virtual-file.ts";
import { type Ceph, startCeph } from "../../s3/ceph.ts";
import { type S3Proxy, startProxy } from "../../s3/proxy.ts";
import { type Bindings, createRig } from "./rig.ts";

const rig = createRig();
let ceph: Ceph;
let origin: Origin;
let env: Bindings;
let connection: Connection;

beforeAll(async () => {
  [ceph, origin] = await Promise.all([startCeph(), startOrigin(), rig.server.listen()]);
  env = await rig.worker().getEnv();
  await Promise.all(["in", "out"].map((name) => ceph.createBucket(`bucket-${name}`)));
  connection = await create("/connections", {
    name: "Ceph",
    kind: "s3",
    signing: [{ bucket: "bucket-in", methods: ["GET", "PUT"] }],
    ...ceph.connection,
  });
});
afterAll(async () => {
  await rig.server.close();
  await ceph?.stop();
  await origin?.close();
});

async function create<T>(path: string, body: unknown): Promise<T> {
  const answer = await rig.call(path, { method: "POST", body });
  expect([answer.status, answer.json.message]).toEqual([201, undefined]);
  return answer.json;
}

const get = (bucket: string, key: string) => ceph.ask(bucket, { method: "GET", key });

async function keysIn(bucket: string): Promise<string[]> {
  const text = await (await get(bucket, "")).text();
  return [...text.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key = ""]) => key);
}

async function probe(response: Response, name: string) {
  const path = join(tmpdir(), name);
  await writeFile(path, new Uint8Array(await response.arrayBuffer()));
  return (await runFfprobe(path)) as {
    format: { duration: string };
    streams: { codec_name: string; width?: number }[];
  };
}

test("a task reads an object with an odd key, writes another and keeps no copies", async () => {
  const key = "a folder/sound + ü 100%.wav";
  const body = new Uint8Array(await readFile(await clip("wav")));
  expect((await ceph.ask("bucket-in", { method: "PUT", key, body })).status).toBe(200);
  const output = "s3://bucket-out/made/out + ü.mp3";
  const { id } = await create<Task>("/tasks", {
    input: `s3://bucket-in/${key}`,
    kind: "audio",
    options: { format: "mp3" },
    output,
  });
  const task = await rig.finished(id);
  expect([task.error, task.output]).toEqual([null, output]);
  const stored = await get("bucket-out", "made/out + ü.mp3");
  expect([stored.status, stored.headers.get("content-type")]).toEqual([200, "audio/mpeg"]);
  const uploaded = task.steps.at(-1)?.output;
  expect(uploaded).toMatchObject({ url: output, format: "mp3", mime: "audio/mpeg" });
  expect(stored.headers.get("etag")).toBe(`"${uploaded?.etag}"`);
  const { streams, format } = await probe(stored, "s3-out.mp3");
  expect(streams[0]?.codec_name).toBe("mp3");
  expect(Math.abs(Number(format.duration) - (task.steps[0]?.output?.duration ?? 0))).toBeLessThan(0.1);
  // Files are removed after the run has ended.
  await rig.until(
    async () => await Promise.all(["work", "out"].map((top) => env.MEDIA.list({ prefix: `${top}/${id}/` }))),
    (pages) => pages.every(({ objects }) => objects.length === 0),
  );
  const { secret_access_key } = ceph.connection;
  expect(JSON.stringify([task, connection])).not.toContain(secret_access_key);
  expect(JSON.stringify(rig.server.getLogs())).not.toContain(secret_access_key);
});

test("uploads several stills, the first one as the key that was given", async () => {
  const input = origin.serve("/stills.mp4", { file: await clip("mp4", { seconds: 2, size: "160x120" }) });
  const output = "s3://bucket-out/stills/poster.jpg";
  const { id } = await create<Task>("/tasks", {
    input,
    kind: "image",
    output,
    options: { count: 2 },
  });
  const task = await rig.finished(id);
  expect(task.error).toBeNull();
  const source = task.steps.at(-1)?.output;
  expect(source).toMatchObject({ url: output, mime: "image/jpeg", width: 160, height: 120 });
  const keys = ["stills/poster.jpg", "stills/still_0002.jpg"];
  expect(source?.files?.map(({ url, time }) => [url, time])).toEqual(
    keys.map((key, time) => [`s3://bucket-out/${key}`, time]),
  );
  expect((await keysIn("bucket-out")).filter((key) => key.startsWith("stills/")).sort()).toEqual(keys);
  const { streams } = await probe(await get("bucket-out", "stills/still_0002.jpg"), "s3-still.jpg");
  expect(streams.map(({ codec_name, width }) => [codec_name, width])).toEqual([["mjpeg", 160]]);
});

test("uploads adaptive video with every file that its playlists name", async () => {
  const input = origin.serve("/clip.mp4", { file: await clip("mp4", { seconds: 2, size: "160x120" }) });
  const output = "s3://bucket-out/stream/main.m3u8";
  const { id } = await create<Task>("/tasks", {
    input,
    kind: "adaptive_video",
    output,
    options: { format: "hls_dash" },
  });
  const task = await rig.finished(id);
  expect(task.error).toBeNull();
  const keys = (await keysIn("bucket-out")).filter((key) => key.startsWith("stream/"));
  expect(keys).toContain("stream/main.m3u8");
  const manifest = await get("bucket-out", "stream/manifest.mpd");
  expect(manifest.headers.get("Content-Type")).toBe("application/dash+xml");
  for (const name of manifestEntries(await manifest.text())) expect(keys).toContain(`stream/${name}`);
  const source = task.steps.at(-1)?.output;
  expect(source).toMatchObject({ url: output, mime: "application/vnd.apple.mpegurl" });
  expect(source?.renditions?.length).toBeGreaterThan(0);
  for (const { url } of source?.renditions ?? []) {
    const folder = url.slice("s3://bucket-out/".length).replace(/[^/]*$/, "");
    const text = await (await get("bucket-out", url.slice("s3://bucket-out/".length))).text();
    const named = [...text.matchAll(/URI="([^"]+)"|^([^#\s].*)$/gm)].map(([, map, line]) => map ?? line);
    expect(named.length).toBeGreaterThan(1);
    for (const name of named) expect(keys).toContain(folder + name);
  }
});

test("an upload step copies a large file in parts, byte for byte", async () => {
  const file = virtualFile([noise(12_500_000, "large")]);
  const url = origin.serve("/large.mp4", { file, mime: "video/mp4" });
  const { id } = await create<Step>("/steps", {
    kind: "upload",
    input: { object: "source", url, kind: "video", format: "mp4" },
    options: { url: "s3://bucket-out/large.mp4", connection_id: connection.id },
  });
  const step = await rig.finishedStep(id);
  expect([step.error, step.output?.url]).toEqual([null, "s3://bucket-out/large.mp4"]);
  expect(step.output?.etag).toMatch(/-3$/);
  const bytes = new Uint8Array(await (await get("bucket-out", "large.mp4")).arrayBuffer());
  expect(sha256(virtualFile([bytes]))).toBe(sha256(file));
  expect(await ceph.unfinished("bucket-out")).toEqual([]);
});

test.each([
  {
    name: "a wrong secret",
    wrong: { secret_access_key: "wrong" },
    bucket: "bucket-out",
    kind: "upload_forbidden",
  },
  {
    name: "an unknown key id",
    wrong: { access_key_id: "NOBODY" },
    bucket: "bucket-out",
    kind: "upload_forbidden",
  },
  { name: "a missing bucket", wrong: {}, bucket: "no-such-bucket", kind: "upload_failed" },
  {
    name: "an unreachable endpoint",
    wrong: { endpoint: "http://127.0.0.1:9" },
    bucket: "bucket-out",
    kind: "upload_failed",
  },
] as const)(
  "a connection test and an upload report $name and leave nothing",
  async ({ wrong, bucket, kind }) => {
    const wrongConnection = await create<Connection>("/connections", {
      name: "Wrong",
      kind: "s3",
      ...ceph.connection,
      ...wrong,
    });
    const answer = await rig.call(`/connections/${wrongConnection.id}/test`, {
      method: "POST",
      body: { bucket },
    });
    expect(answer).toMatchObject({ status: 200, json: { ok: false, error: { kind } } });
    // An upload would retry an unreachable endpoint for long.
    if ("endpoint" in wrong) return;
    const url = origin.serve("/small.mp4", { file: await clip("mp4"), mime: "video/mp4" });
    const { id } = await create<Step>("/steps", {
      kind: "upload",
      input: { object: "source", url, kind: "video", format: "mp4" },
      options: { url: `s3://${bucket}/never.mp4`, connection_id: wrongConnection.id },
    });
    const step = await rig.finishedStep(id);
    expect([step.status, step.error?.kind]).toEqual(["failed", kind]);
    const answers = JSON.stringify([answer.json, step]);
    for (const secret of [ceph.connection.secret_access_key, "wrong"])
      expect(answers).not.toContain(`"${secret}"`);
    expect(await keysIn("bucket-out")).not.toContain("never.mp4");
  },
);

test("testing a working connection needs no list of its keys, and leaves nothing", async () => {
  const { id, proxy } = await watched();
  const body = { bucket: "bucket-in", prefix: "tries/" };
  const answer = await rig.call(`/connections/${id}/test`, { method: "POST", body });
  expect(answer.json).toEqual({ object: "connection_test", ok: true, error: null });
  expect(proxy.log.map(({ method }) => method)).toEqual(["PUT", "GET", "DELETE"]);
  proxy.fail(({ method }) => (method === "GET" ? { status: 403, code: "AccessDenied" } : null));
  const refused = await rig.call(`/connections/${id}/test`, { method: "POST", body });
  expect(refused.json).toMatchObject({ ok: false, error: { kind: "input_forbidden" } });
  expect((await keysIn("bucket-in")).filter((key) => key.startsWith("tries/"))).toEqual([]);
});

/** Makes a connection whose requests can be seen and failed the default one, until the test is finished. */
async function watched(): Promise<{ id: string; proxy: S3Proxy }> {
  const proxy = await startProxy(ceph.connection.endpoint);
  onTestFinished(() => proxy.close());
  const { id } = await create<Connection>("/connections", {
    name: "Watched",
    kind: "s3",
    ...ceph.connection,
    endpoint: proxy.url,
    is_default: true,
  });
  onTestFinished(async () => {
    await rig.call(`/connections/${connection.id}`, { method: "PATCH", body: { is_default: true } });
    await rig.call(`/connections/${id}`, { method: "DELETE" });
  });
  return { id, proxy };
}

test("reports a missing input", async () => {
  const task = await create<Task>("/tasks", { input: "s3://bucket-in/no-such-key.mp4", kind: "video" });
  expect((await rig.finished(task.id)).error?.kind).toBe("input_not_found");
});

test("signed requests let a page without keys write and read an object, with the signed type and length only", async () => {
  const body = new Uint8Array(await readFile(await clip("png")));
  const sign = (more: object) =>
    rig.call(`/connections/${connection.id}/sign`, {
      method: "POST",
      body: { bucket: "bucket-in", key: "from a page.png", ...more },
    });
  const put = await sign({ method: "PUT", content_type: "image/png", content_length: body.length });
  expect(put).toMatchObject({ status: 200, json: { headers: { "content-type": "image/png" } } });
  const { url, headers } = put.json;
  expect(url).not.toContain(ceph.connection.secret_access_key);
  const other = await fetch(url, { method: "PUT", headers: { "content-type": "text/html" }, body });
  expect(other.status).toBe(403);
  expect((await fetch(url, { method: "PUT", headers, body: body.slice(1) })).status).toBe(403);
  expect((await fetch(url, { method: "PUT", headers, body })).status).toBe(200);
  const read = await fetch((await sign({ method: "GET", seconds: 60 })).json.url);
  expect(new Uint8Array(await read.arrayBuffer())).toEqual(body);
  expect((await fetch(url, { method: "DELETE" })).status).toBe(403);
  for (const wrong of [{ method: "PATCH" }, { method: "GET", seconds: 0 }, { method: "GET", key: "" }])
    expect((await sign(wrong)).status).toBe(400);
});

test("an object is read in part at the version that was probed, and fails when it changes meanwhile", async () => {
  const key = "film.mp4";
  const file = await readFile(
    await makeClip("mp4", [
      ..."-f lavfi -i testsrc2=size=640x360:rate=25:duration=30 -c:v libx264 -preset ultrafast".split(" "),
      ..."-b:v 5M -minrate 5M -maxrate 5M -bufsize 5M -x264-params nal-hrd=cbr -g 50 -pix_fmt yuv420p".split(
        " ",
      ),
    ]),
  );
  const put = (body: Uint8Array<ArrayBuffer>) => ceph.ask("bucket-in", { method: "PUT", key, body });
  const etag = (await put(new Uint8Array(file))).headers.get("etag");
  const { proxy } = await watched();
  const still = async () => {
    const options = { format: "png", start: 15.5 };
    const task = await create<Task>("/tasks", { input: `s3://bucket-in/${key}`, kind: "image", options });
    return rig.finished(task.id);
  };
  expect((await still()).error).toBeNull();
  const [first, ...reads] = proxy.log.filter(({ path }) => path.startsWith(`/bucket-in/${key}`));
  expect(first?.method).toBe("GET");
  expect(reads.length).toBeGreaterThan(2);
  expect(reads.map(({ headers }) => headers["if-match"])).toEqual(reads.map(() => etag));
  const lengths = reads.map(({ headers }) => {
    const [, start = 0, end = 0] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
    return Number(end) - Number(start) + 1;
  });
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(file.length / 4);

  // Another file takes its place before its middle is read.
  let replaced: Promise<Response> | null = null;
  proxy.fail(({ headers }) => {
    const start = Number(/\d+/.exec(headers.range ?? "")?.[0] ?? 0);
    if (start < 2_000_000 || start > file.length - 2_000_000) return null;
    replaced ??= put(new Uint8Array(file.toReversed()));
    return { late_ms: 1000 };
  });
  const task = await still();
  expect(replaced).not.toBeNull();
  expect(task.error).toMatchObject({ kind: "input_changed", retryable: false });
});
