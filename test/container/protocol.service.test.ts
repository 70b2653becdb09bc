import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { NATIVE_PROTOCOL, type NativeJob } from "../../src/encoders/native/native-wire.ts";
import { frameHead } from "../../src/encoders/wire-frame.ts";
import { FEATURES } from "../../src/media/features.ts";
import type { VideoEncode } from "../../src/media/ffmpeg/picture-graph.ts";
import { parseSettings } from "../../worker/container/settings.ts";
import { COMPILE_CACHE } from "../../worker/local/programs.ts";
import { clip } from "../fixtures/clips.ts";
import type { Answer } from "../fixtures/origin.ts";
import { readFacts } from "../judge/facts.ts";
import { MAIN, startRig, until } from "./rig.ts";

const token = "a-token-of-the-encoder";
const rig = await startRig({ PLACES: "1", NATIVE_ENCODER_TOKEN: token });
afterAll(() => rig.close());

test("prints where it listens as a line of JSON", async () => {
  await until(() => rig.output().endsWith("\n"));
  expect(JSON.parse(rig.output())).toEqual({ url: rig.url });
});

test("health reports versions, features and slots, and needs no token", async () => {
  const answer = await rig.call("GET", "/health", undefined, { Authorization: "" });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    protocol: 5,
    reads: [4, 5],
    features: Object.keys(FEATURES),
    ffmpeg: expect.stringMatching(/^\d+\.\d+/),
    places: 2,
    running: 0,
    ending: false,
  });
});

test("keeps an idle connection open for longer than any client uses it", async () => {
  const answer = await rig.call("GET", "/health");
  await answer.body?.cancel();
  expect(answer.headers.get("keep-alive")).toBe("timeout=75");
});

test.for([
  { method: "POST", path: "/jobs", header: undefined, kind: "token_missing" },
  { method: "GET", path: "/jobs/a", header: undefined, kind: "token_missing" },
  { method: "DELETE", path: "/jobs/a", header: "Basic abc", kind: "token_invalid" },
  { method: "GET", path: "/jobs/a", header: "Bearer wrong", kind: "token_invalid" },
  { method: "GET", path: "/jobs/a", header: `Bearer ${token}x`, kind: "token_invalid" },
] as const)("$method $path with $header is $kind", async ({ method, path, header, kind }) => {
  const headers = header === undefined ? {} : { Authorization: header };
  const answer = await fetch(rig.url + path, { method, headers });
  expect([answer.status, await answer.json()]).toEqual([401, { kind, message: expect.any(String) }]);
  expect(answer.headers.get("www-authenticate")).toContain("Bearer");
});

test("reports growing progress, turns away a second job, and keeps a place for images and sound", async () => {
  // The input is throttled, so that the job runs for some seconds even on a fast machine.
  const path = await clip("mp4", { size: "640x360", seconds: 60 });
  const slow = (answer: Answer) => ({ ...answer, bytes_per_second: 1_000_000 });
  const job = await rig.job(path, "video", { width: 160 }, slow);
  const started = await rig.call("POST", "/jobs", job);
  expect([started.status, await started.json()]).toEqual([202, { state: "running", share: 0, speed: null }]);

  const other = await rig.call("POST", "/jobs", { ...job, id: "other" });
  expect([other.status, other.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await other.json()).toMatchObject({ kind: "service_unavailable" });
  const short = await rig.job(await clip("mp4", { seconds: 1 }), "audio", { format: "mp3" });
  expect(await rig.run(short)).toMatchObject({ state: "done" });

  const repeat = await rig.call("POST", "/jobs", job);
  expect([repeat.status, await repeat.json()]).toMatchObject([200, { state: "running" }]);
  expect(await rig.ffmpegs()).toHaveLength(1);

  const shares: number[] = [];
  for (;;) {
    const state = await (await rig.call("GET", `/jobs/${job.id}?wait=10`)).json();
    if (state.state !== "running") {
      expect(state).toMatchObject({ state: "done", written: [{ name: "output.mp4" }] });
      break;
    }
    shares.push(state.share);
    if (shares.length > 1) expect(state.speed).toBeGreaterThan(0);
  }
  expect(shares.length).toBeGreaterThanOrEqual(2);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.every((share) => share > 0 && share <= 1)).toBe(true);
  const done = await rig.call("POST", "/jobs", job);
  expect([done.status, await done.json()]).toMatchObject([200, { state: "done" }]);
  expect(await (await rig.call("GET", "/health")).json()).toMatchObject({ running: 0 });
});

test("a wait without a change ends on time", async () => {
  const silent = await rig.job(await clip("mp4"), "video", {}, (answer) => ({ ...answer, silent: true }));
  await rig.call("POST", "/jobs", silent);
  const started = performance.now();
  expect(await (await rig.call("GET", `/jobs/${silent.id}?wait=0.5`)).json()).toMatchObject({ share: 0 });
  expect(performance.now() - started).toBeGreaterThan(480);
  expect((await rig.call("DELETE", `/jobs/${silent.id}`)).status).toBe(204);
  expect((await rig.call("GET", `/jobs/${silent.id}`)).status).toBe(404);
});

test("restarts a failed job that is sent again", async () => {
  const job = await rig.job(await clip("mp4", { seconds: 1 }), "audio", { format: "wav" });
  rig.sink.fail(() => ({ status: 403, kind: "forbidden" }));
  expect(await rig.run(job)).toMatchObject({ state: "failed", error: { kind: "upload_forbidden" } });
  rig.sink.fail(null);
  expect(await rig.run(job)).toMatchObject({ state: "done" });
});

test("unknown paths and jobs are 404, and deleting an unknown job succeeds", async () => {
  for (const path of ["/", "/jobs/none", "/job"]) {
    const answer = await rig.call("GET", path);
    expect([answer.status, await answer.json()]).toMatchObject([404, { kind: "route_not_found" }]);
  }
  expect((await rig.call("DELETE", "/jobs/none")).status).toBe(204);
  expect((await rig.call("GET", "/jobs/none?wait=x")).status).toBe(400);
});

const WRONG: Record<string, (job: NativeJob) => unknown> = {
  protocol: (job) => ({ ...job, protocol: 1 }),
  id: (job) => ({ ...job, id: "../a" }),
  "input.url": (job) => ({ ...job, input: { ...job.input, url: "file:///etc/passwd" } }),
  "input.size": (job) => ({ ...job, input: { ...job.input, size: -1 } }),
  folder: (job) => ({ ...job, folder: "http://example.com/out" }),
  name: (job) => ({ ...job, name: "../output.mp4" }),
  "plan.format": (job) => ({ ...job, plan: { ...job.plan, format: "mp3" } }),
  "plan.video.matte": (job) => ({
    ...job,
    plan: { ...job.plan, video: { ...job.plan.video, matte: "0x000000,movie=/etc/passwd" } },
  }),
  "plan.renditions.0.name": (job) => ({
    ...job,
    plan: { ...job.plan, renditions: [{ name: "..", geometry: {}, rate: {}, fps: null }] },
  }),
  "plan.hologram": (job) => ({ ...job, plan: { ...job.plan, hologram: true } }),
  "plan.video.sharpen": (job) => ({
    ...job,
    plan: { ...job.plan, video: { ...job.plan.video, sharpen: 1 } },
  }),
  "plan.video.geometry.skew": (job) => ({
    ...job,
    plan: {
      ...job.plan,
      video: { ...job.plan.video, geometry: { ...(job.plan.video as VideoEncode).geometry, skew: 1 } },
    },
  }),
  "chunk.part": (job) => ({ ...job, chunk: { ...job.chunk, part: 1 } }),
  priority: (job) => ({ ...job, priority: 1 }),
  "source.hologram": (job) => ({ ...job, source: { ...job.source, hologram: true } }),
  "source.streams.0.depth": (job) => ({
    ...job,
    source: { ...job.source, streams: [{ index: 0, kind: "video", codec: "h264", depth: 3 }] },
  }),
  "plan.concat.0.source.hologram": (job) => {
    const part = { input: 0, source: { ...job.source, hologram: true }, video: null, frames: 1 };
    return { ...job, plan: { ...job.plan, concat: [part] } };
  },
  "source.color.transfer": (job) => ({
    ...job,
    source: { ...job.source, color: { hdr: false, transfer: "a,b" } },
  }),
};

test.for(Object.entries(WRONG))("rejects a wrong %s", async ([param, change]) => {
  const job = await rig.job(await clip("mp4"), "video", { width: 80 });
  const answer = await rig.call("POST", "/jobs", change(job));
  expect([answer.status, await answer.json()]).toEqual([
    ...[400, { kind: "request_invalid", param, message: expect.stringContaining(param) }],
  ]);
});

test("runs a job and a picture as protocol 4 sent them", async () => {
  const { video, picture } = JSON.parse(await readFile(join(import.meta.dirname, "protocol-4.json"), "utf8"));
  const { input, folder, id } = await rig.job(await clip("mp4", { seconds: 2 }), "video");
  // Protocol 4 ignores unknown facts of a source.
  const source = { ...video.source, hologram: true, color: { ...video.source.color, gamut: "wide" } };
  const state = await rig.run({ ...video, source, id, input, folder });
  expect(state).toMatchObject({ state: "done", written: [{ name: "output.mp4", mime: "video/mp4" }] });
  const facts = await readFacts(join(rig.sink.folder, id, "output.mp4"));
  expect([facts.picture?.width, facts.picture?.height, facts.picture?.times.length]).toEqual([80, 44, 10]);

  const file = await readFile(await clip("png", { size: "96x64" }));
  const answer = await fetch(`${rig.url}/pictures`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: streamed(framed({ ...picture, size: file.length }, file)),
    // Node requires this for stream bodies.
    duplex: "half",
  } as RequestInit);
  expect([answer.status, new Uint8Array(await answer.arrayBuffer()).subarray(0, 2)]).toEqual([
    200,
    Uint8Array.of(0xff, 0xd8),
  ]);
});

test("with SERVICE_ORIGINS set, rejects jobs that read or write elsewhere", async () => {
  const service = "http://127.0.0.1:9";
  const bound = await startRig({ SERVICE_ORIGINS: `${service}, https://media.example` });
  try {
    const job = await bound.job(await clip("mp4"), "video", { width: 80 });
    const read = await bound.call("POST", "/jobs", { ...job, folder: `${service}/out/` });
    expect([read.status, await read.json()]).toMatchObject([400, { param: "input.url" }]);
    const input = { ...job.input, url: `${service}/a.mp4` };
    const write = await bound.call("POST", "/jobs", { ...job, input });
    expect([write.status, await write.json()]).toMatchObject([400, { param: "folder" }]);
    const accepted = await bound.call("POST", "/jobs", {
      ...job,
      input,
      folder: "https://media.example/out/",
    });
    expect(accepted.status).toBe(202);
    await bound.call("DELETE", `/jobs/${job.id}`);
  } finally {
    await bound.close();
  }
  for (const SERVICE_ORIGINS of ["https://media.example/path", "media.example", "file:///", "*"]) {
    expect(() => parseSettings({ SERVICE_ORIGINS })).toThrow("SERVICE_ORIGINS");
  }
});

test.for([
  { env: {}, words: "NATIVE_ENCODER_TOKEN and SERVICE_ORIGINS must be set" },
  { env: { NATIVE_ENCODER_TOKEN: token }, words: "SERVICE_ORIGINS must be set" },
  { env: { SERVICE_ORIGINS: "https://media.example" }, words: "NATIVE_ENCODER_TOKEN must be set" },
] as const)("does not start where other machines reach it with only $env", async ({ env, words }) => {
  const reason = (HOST: string) => `${words}, because other machines can reach HOST ${HOST}.`;
  for (const HOST of ["0.0.0.0", "::", "192.0.2.1"])
    expect(() => parseSettings({ HOST, ...env })).toThrow(reason(HOST));
  const run = promisify(execFile)(process.execPath, [MAIN], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, PORT: "0", HOST: "0.0.0.0", ...env },
  });
  await expect(run).rejects.toMatchObject({ code: 1, stdout: "", stderr: `error: ${reason("0.0.0.0")}\n` });
});

test("starts where other machines reach it with a token and origins", async () => {
  const env = { NATIVE_ENCODER_TOKEN: token, SERVICE_ORIGINS: "https://media.example" };
  const open = await startRig({ HOST: "0.0.0.0", ...env });
  const { port } = new URL(open.url);
  expect((await fetch(`http://127.0.0.1:${port}/jobs/a`)).status).toBe(401);
  await open.close();
});

test.for([
  { body: "{", status: 400, kind: "request_invalid" },
  { body: "[]", status: 400, kind: "request_invalid" },
  { body: "", status: 400, kind: "request_invalid" },
  { body: " ".repeat(2 ** 20 + 1), status: 413, kind: "payload_too_large" },
] as const)("rejects a malformed body (%#)", async ({ body, status, kind }) => {
  const answer = await rig.call("POST", "/jobs", body);
  expect([answer.status, await answer.json()]).toMatchObject([status, { kind }]);
  expect(answer.headers.get("Connection")).toBe("close");
});

test("makes one picture of a request at a time, beside other work, and wants a whole one", async () => {
  const file = await readFile(await clip("png", { size: "96x64" }));
  const { plan, chunk, source } = await rig.job(await clip("png", { size: "96x64" }), "image", {
    format: "jpeg",
  });
  const head = { protocol: NATIVE_PROTOCOL, plan, chunk, source, size: file.length };
  const send = (json: unknown, more: AsyncIterable<Uint8Array> | Uint8Array, wait = "0") =>
    fetch(`${rig.url}/pictures?wait=${wait}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: streamed(framed(json, more)),
      // Node requires this for stream bodies.
      duplex: "half",
    } as RequestInit);
  const answer = await send(head, file);
  expect([answer.status, new Uint8Array(await answer.arrayBuffer()).subarray(0, 2)]).toEqual([
    200,
    Uint8Array.of(0xff, 0xd8),
  ]);

  // The first one has its turn and waits for the rest of its bytes.
  const rest = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const slow = send(
    head,
    (async function* () {
      yield file.subarray(0, 10);
      started.resolve();
      await rest.promise;
      yield file.subarray(10);
    })(),
    "30",
  );
  // Awaited below, unless the test has failed before.
  slow.catch(() => {});
  await started.promise;
  await until(async () => (await send(head, file)).status === 503);
  const sound = await rig.job(await clip("mp4", { seconds: 1 }), "audio", { format: "wav" });
  expect(await rig.run(sound)).toMatchObject({ state: "done" });
  const next = send(head, file, "30");
  rest.resolve();
  expect([(await slow).status, (await next).status]).toEqual([200, 200]);

  const video = await rig.job(await clip("mp4"), "video");
  const film = await send({ ...head, plan: video.plan, chunk: video.chunk }, file);
  expect([film.status, await film.json()]).toMatchObject([400, { kind: "request_invalid", param: "plan" }]);
  const short = await send(head, file.subarray(1));
  expect([short.status, await short.json()]).toMatchObject([400, { kind: "request_invalid" }]);
  const damaged = await send({ ...head, size: 60 }, file.subarray(0, 60));
  expect([damaged.status, await damaged.json()]).toMatchObject([422, { kind: "input_unsupported" }]);
  expect((await fetch(`${rig.url}/pictures`, { method: "POST" })).status).toBe(401);
  expect(await rig.left()).toEqual([]);
});

async function* framed(json: unknown, more: AsyncIterable<Uint8Array> | Uint8Array) {
  yield frameHead(json);
  if (more instanceof Uint8Array) yield more;
  else yield* more;
}

function streamed(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
