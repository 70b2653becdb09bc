import { afterAll, expect, test } from "vitest";
import type { Source } from "../../src/core/source.ts";
import type { ChunkJob } from "../../src/encoders/encoder.ts";
import { createNativeEncoder, type NativeEncoderOptions } from "../../src/encoders/native.ts";
import type { NativeState } from "../../src/encoders/native-wire.ts";
import { createPlan } from "../../src/plan/index.ts";
import { startRig } from "../container/rig.ts";
import { clip } from "../fixtures/clips.ts";
import {
  BUSY,
  DONE,
  type Reply,
  RUNNING,
  type Script,
  type ScriptedNative,
  startScripted,
} from "./scripted-native.ts";

const open: ScriptedNative[] = [];
afterAll(() => Promise.all(open.map((each) => each.close())));

async function encoder(name: string, script?: Script): Promise<ScriptedNative> {
  const started = await startScripted(name, script);
  open.push(started);
  return started;
}

const SOURCE: Source = {
  ...{
    object: "source",
    url: "file:clip",
    kind: "video",
    format: "mp4",
    duration: 10,
    fps: 25,
    filesize: 5000,
  },
  ...{ width: 640, height: 360, coded_width: 640, coded_height: 360 },
  codecs: { video: "h264", audio: null },
};
const PLAN = createPlan(SOURCE, "video", { codec: "h265" });
const QUICK = {
  ...{
    start_ms: 400,
    poll_ms: 200,
    answer_ms: 200,
    restart_ms: 300,
    busy_ms: 20,
    busy_most_ms: 50,
    end_ms: 1200,
  },
};

function job(more: Partial<ChunkJob> = {}): ChunkJob {
  const [chunk] = PLAN.chunks;
  if (!chunk) throw new Error("The plan has no chunk.");
  return {
    ...{ plan: PLAN, source: SOURCE, chunk, signal: new AbortController().signal, id: "run_1-0" },
    input: { size: 5000, read: async () => new Uint8Array(0) },
    remote: async () => ({
      input: { url: "http://service/in", size: 5000, etag: "v1" },
      folder: "http://service/out/",
      name: "out.mp4",
    }),
    ...more,
  };
}

function client(instances: NativeEncoderOptions["instances"], more: Partial<NativeEncoderOptions> = {}) {
  return createNativeEncoder({ instances, patience: QUICK, ...more });
}

const WRITTEN = { written: [{ name: "out.mp4", mime: "video/mp4", size: 1234 }], playlists: [] };
const running = (share: number): NativeState => ({ state: "running", share, speed: 2 });
const posts = (...encoders: ScriptedNative[]) =>
  encoders.map(({ log }) => log.filter((line) => line === "POST /jobs").length);

test("gives a job with where to read and write, tells how far it is, and gives what was stored", async () => {
  const one = await encoder("one", { ask: [running(0.25), running(0.5), DONE] });
  const shares: number[] = [];
  const onProgress = (share: number) => shares.push(share);
  expect(await client([one]).encode(job({ onProgress }))).toEqual(WRITTEN);
  expect(shares).toEqual([0, 0.25, 0.5]);
  const { plan, source, chunk } = job();
  expect(one.jobs).toEqual([
    {
      ...{ protocol: 1, id: "run_1-0", plan, source, chunk, name: "out.mp4", folder: "http://service/out/" },
      input: { url: "http://service/in", size: 5000, etag: "v1" },
    },
  ]);
  expect(one.log).toEqual(["POST /jobs", ...Array(3).fill("GET /jobs/run_1-0?wait=0.2")]);
});

test("gives the playlists of adaptive video as files", async () => {
  const one = await encoder("one", {
    start: [
      {
        state: "done",
        written: [{ name: "240p/seg_00000.m4s", mime: "video/iso.segment", size: 7 }],
        playlists: [{ name: "240p/index.m3u8", mime: "application/vnd.apple.mpegurl", text: "#EXTM3U\n" }],
      },
    ],
  });
  const remote = async () => ({
    input: { url: "http://service/in", size: 5000, etag: "v1" },
    ...{ folder: "http://service/out/", name: null },
  });
  expect(await client([one]).encode(job({ remote }))).toEqual({
    written: [{ name: "240p/seg_00000.m4s", mime: "video/iso.segment", size: 7 }],
    playlists: [
      {
        ...{ name: "240p/index.m3u8", mime: "application/vnd.apple.mpegurl" },
        bytes: new TextEncoder().encode("#EXTM3U\n"),
      },
    ],
  });
});

test("sends its token with every request, and none where there is none", async () => {
  const one = await encoder("one");
  await client([one], { token: "s3cret" }).encode(job());
  await client([one]).encode(job());
  expect(one.tokens).toEqual(["Bearer s3cret", "Bearer s3cret", undefined, undefined]);
});

test("a chunk's index says which encoder is asked first", async () => {
  const all = [await encoder("a"), await encoder("b"), await encoder("c")];
  for (const index of [0, 1, 2, 3]) {
    await client(all).encode(
      job({ id: `run_1-${index}`, chunk: { index, track: "video", start: 0, end: 1 } }),
    );
  }
  expect(all.map(({ jobs }) => jobs.map(({ id }) => id))).toEqual([
    ["run_1-0", "run_1-3"],
    ["run_1-1"],
    ["run_1-2"],
  ]);
});

test("a busy encoder leaves the job to the next one", async () => {
  const [busy, free] = [await encoder("busy", { start: [BUSY] }), await encoder("free")];
  expect(await client([busy, free]).encode(job())).toEqual(WRITTEN);
  expect(busy.log).toEqual(["POST /jobs"]);
});

test("waits while all are busy, and says so", async () => {
  const one = await encoder("one", { start: [BUSY, BUSY, BUSY, RUNNING] });
  const two = await encoder("two", { start: [BUSY] });
  let waits = 0;
  const onWait = () => {
    waits++;
  };
  expect(await client([one, two]).encode(job({ onWait }))).toEqual(WRITTEN);
  expect(waits).toBe(3);
  expect(posts(one, two)).toEqual([4, 3]);
});

test("an encoder that cannot be reached leaves the job to the next one", async () => {
  const [gone, there] = [await startScripted("gone"), await encoder("there")];
  await gone.close();
  expect(await client([gone, there]).encode(job())).toEqual(WRITTEN);
});

test("with no encoder in reach it gives up after a while", async () => {
  const gone = await startScripted("gone");
  await gone.close();
  const rejection = expect(client([gone]).encode(job())).rejects;
  await rejection.toMatchObject({
    ...{ kind: "worker_lost", retryable: true, message: "The native encoder gone cannot be reached." },
  });
});

test("a short fault of the network costs nothing", async () => {
  const one = await encoder("one", {
    ask: ["cut", { status: 502, text: "<html>" }, running(0.9), "half", DONE],
  });
  const [two] = [await encoder("two")];
  // The network is given a second to mend: each further try comes later.
  expect(await client([one, two], { patience: { ...QUICK, restart_ms: 2000 } }).encode(job())).toEqual(
    WRITTEN,
  );
  expect(posts(one, two)).toEqual([1, 0]);
});

test("an encoder that goes away between start and progress is replaced", async () => {
  const [one, two] = [await encoder("one", { ask: ["silent"] }), await encoder("two")];
  const encoding = client([one, two]).encode(job());
  await one.asked("GET");
  await one.close();
  expect(await encoding).toEqual(WRITTEN);
  expect(posts(one, two)).toEqual([1, 1]);
});

test("an encoder that has restarted and lost the job is given it again where there is no other", async () => {
  const one = await encoder("one", { ask: [running(0.4), { status: 404, text: "{}" }, running(0.2), DONE] });
  const shares: number[] = [];
  expect(await client([one]).encode(job({ onProgress: (share) => shares.push(share) }))).toEqual(WRITTEN);
  expect(posts(one)).toEqual([2]);
  expect(shares).toEqual([0, 0.4, 0.4, 0.4]);
});

const html = { status: 200, text: "<!doctype html><p>Hello</p>", mime: "text/html" };
const done = (file: Record<string, unknown>, more: object = {}): Reply => ({
  status: 200,
  text: JSON.stringify({
    ...DONE,
    written: [{ name: "out.mp4", mime: "video/mp4", size: 1, ...file }],
    ...more,
  }),
});
const NONSENSE: [string, Reply][] = [
  ["a page", html],
  ["nothing", { status: 200 }],
  ["half an answer", "half"],
  ["an endless answer", "endless"],
  ["no answer", "silent"],
  ["a broken connection", "cut"],
  ["a redirect", { status: 302 }],
  ["a refusal of the protocol", { status: 400, text: '{"kind":"request_invalid","message":"protocol"}' }],
  ["a refusal of the token", { status: 401, text: '{"kind":"token_invalid","message":"token"}' }],
  ["a fault of the server", { status: 500, text: "oops" }],
  ["null", { status: 200, text: "null" }],
  ["another shape", { status: 200, text: '{"ok":true}' }],
  ["a state that is none", { status: 200, text: '{"state":"sleeping"}' }],
  ["a share of 7", { status: 200, text: '{"state":"running","share":7,"speed":null}' }],
  ["an error that is none", { status: 200, text: '{"state":"failed","error":{"kind":"oops"}}' }],
  ["no file", { status: 200, text: '{"state":"done","written":[],"playlists":[]}' }],
  ["an empty file", done({ size: 0 })],
  ["half a byte", done({ size: 0.5 })],
  ["a path that leaves the folder", done({ name: "../out.mp4" })],
  ["a path from the root", done({ name: "/out.mp4" })],
  ["a file that nobody asked for", done({ name: "other.mp4" })],
  [
    "a playlist that nobody asked for",
    done({}, { playlists: [{ name: "a.m3u8", mime: "text/plain", text: "x" }] }),
  ],
];

test.for(NONSENSE)("an encoder that answers %s when asked is replaced", async ([, reply]) => {
  const [mad, two] = [await encoder("mad", { ask: [reply] }), await encoder("two")];
  expect(await client([mad, two]).encode(job())).toEqual(WRITTEN);
  expect(posts(mad, two)).toEqual([1, 1]);
});

test.for(NONSENSE)("an encoder that answers %s to a job is replaced", async ([, reply]) => {
  const [mad, two] = [await encoder("mad", { start: [reply] }), await encoder("two")];
  expect(await client([mad, two]).encode(job())).toEqual(WRITTEN);
  expect(posts(mad, two)).toEqual([1, 1]);
});

test("names of files in adaptive video stay within its folder, and are there once", async () => {
  const remote = async () => ({
    input: { url: "http://service/in", size: 5000, etag: "v1" },
    ...{ folder: "http://service/out/", name: null },
  });
  const file = (name: string) => ({ name, mime: "video/mp4", size: 1 });
  for (const names of [["a/../../b"], ["a//b"], ["a/./b"], ["a%2fb"], ["a?b"], ["a\\b"], ["a", "a"], [""]]) {
    const text = JSON.stringify({ state: "done", written: names.map(file), playlists: [] });
    const mad = await encoder("mad", { start: [{ status: 200, text }] });
    await expect(client([mad]).encode(job({ remote }))).rejects.toMatchObject({ kind: "worker_lost" });
  }
});

test("three starts are all that a job gets", async () => {
  const all = await Promise.all(["a", "b"].map((name) => encoder(name, { ask: [{ status: 404 }] })));
  await expect(client(all).encode(job())).rejects.toMatchObject({
    ...{ kind: "worker_lost", message: "The native encoder a has lost the job." },
  });
  expect(posts(...all)).toEqual([2, 1]);
});

test.for([
  ["input_unsupported", false],
  ["out_of_memory", false],
  ["storage_full", false],
  ["input_unreachable", true],
  ["stalled", true],
] as const)("a job that fails with %s is not tried elsewhere", async ([kind, retryable]) => {
  const failed: NativeState = { state: "failed", error: { kind, message: "It went wrong.", retryable } };
  const [one, two] = [await encoder("one", { ask: [failed] }), await encoder("two")];
  const rejection = expect(client([one, two]).encode(job())).rejects;
  await rejection.toMatchObject({ name: "MediaError", kind, retryable, message: "It went wrong." });
  expect(posts(one, two)).toEqual([1, 0]);
});

test("a job that is handed back is done elsewhere", async () => {
  const error = { kind: "worker_lost", message: "The encoder is being shut down.", retryable: true } as const;
  const one = await encoder("one", { ask: [running(0.5), { state: "failed", error }] });
  const two = await encoder("two");
  expect(await client([one, two]).encode(job())).toEqual(WRITTEN);
  expect(posts(one, two)).toEqual([1, 1]);
});

test("a stale answer that comes twice takes nothing back", async () => {
  const one = await encoder("one", { ask: [running(0.6), running(0.3), running(0.6), DONE, DONE] });
  const shares: number[] = [];
  const onProgress = (share: number) => shares.push(share);
  expect(await client([one]).encode(job({ onProgress }))).toEqual(WRITTEN);
  // The same job again, as after a restart: the encoder has it done.
  const again = await encoder("again", { start: [DONE] });
  expect(await client([again]).encode(job())).toEqual(WRITTEN);
  expect(shares).toEqual([0, 0.6, 0.6, 0.6]);
});

test.for([
  ["while it is asked", { ask: ["silent"] }, "GET"],
  ["while it is given the job", { start: ["silent"] }, "POST"],
  ["between two questions", { ask: [running(0.01)] }, "GET"],
] as [string, Script, string][])("ends the job at once when it is stopped %s", async ([, script, method]) => {
  const one = await encoder("one", script);
  const stop = new AbortController();
  const patience = { ...QUICK, start_ms: 60_000, poll_ms: 60_000 };
  const encoding = client([one], { patience }).encode(job({ signal: stop.signal }));
  await one.asked(method);
  const reason = new Error("enough");
  const at = performance.now();
  stop.abort(reason);
  await expect(encoding).rejects.toBe(reason);
  expect(performance.now() - at).toBeLessThan(10_000);
  expect(one.log.at(-1)).toBe("DELETE /jobs/run_1-0");
});

test("does not wait long for an encoder that does not hear that a job is to end", async () => {
  const one = await encoder("one", { ask: ["silent"] });
  const stop = new AbortController();
  const deaf = {
    name: "deaf",
    fetch: (path: string, init: RequestInit = {}) =>
      init.method === "DELETE" ? new Promise<Response>(() => {}) : one.fetch(path, init),
  };
  const encoding = client([deaf]).encode(job({ signal: stop.signal }));
  await one.asked("GET");
  const at = performance.now();
  stop.abort(new Error("enough"));
  await expect(encoding).rejects.toThrow("enough");
  expect(performance.now() - at).toBeLessThan(10_000);
});

test("stops waiting for a free place when it is stopped", async () => {
  const one = await encoder("one", { start: [BUSY] });
  const stop = new AbortController();
  const encoding = client([one]).encode(
    job({ signal: stop.signal, onWait: () => stop.abort(new Error("enough")) }),
  );
  await expect(encoding).rejects.toThrow("enough");
  expect(one.log).toEqual(["POST /jobs"]);
});

test("refuses what native ffmpeg cannot do, and everything where there is none", async () => {
  const one = await encoder("one");
  expect(client([one]).can(PLAN, SOURCE)).toBeNull();
  const photo: Source = {
    ...{
      object: "source",
      url: "file:a",
      kind: "image",
      format: "png",
      width: 8,
      height: 8,
      has_alpha: true,
    },
    ...{ coded_width: 8, coded_height: 8, codecs: { video: "png", audio: null } },
  };
  const avif = createPlan(photo, "image", { format: "avif" });
  expect(client([one]).can(avif, photo)).toBe("native ffmpeg writes no transparency in avif");
  const none = "there is no native encoder: install ffmpeg or set NATIVE_ENCODER_URL";
  expect(client([]).can(PLAN, SOURCE)).toBe(none);
  await expect(client([]).encode(job())).rejects.toMatchObject({ kind: "encoder_unavailable" });
  const { remote: _, ...local } = job();
  await expect(client([one]).encode(local)).rejects.toMatchObject({ kind: "encoder_unavailable" });
});

test("has real work done by the real encoder", async () => {
  const rig = await startRig({ NATIVE_ENCODER_TOKEN: "s3cret" });
  try {
    const { plan, chunk, source, input, folder, name, id } = await rig.job(await clip("mp4"), "video", {
      width: 80,
    });
    const instance = {
      name: "real",
      fetch: (path: string, init?: RequestInit) => fetch(rig.url + path, init),
    };
    const native = createNativeEncoder({ instances: [instance], token: "s3cret" });
    const shares: number[] = [];
    const { signal } = new AbortController();
    const onProgress = (share: number) => shares.push(share);
    const remote = async () => ({ input, folder, name });
    const given = { ...job({ plan, chunk, source, signal, id, remote, onProgress }) };
    const encoded = await native.encode(given);
    expect(encoded).toEqual({
      written: [{ name, mime: "video/mp4", size: expect.any(Number) }],
      playlists: [],
    });
    expect(await rig.sink.files()).toEqual([`${id}/${name}`]);
    expect(shares[0]).toBe(0);
    // The same id is the same job: nothing is done twice.
    expect(await native.encode(given)).toEqual(encoded);
    expect(rig.sink.log.length).toBe(1);
  } finally {
    await rig.close();
  }
});
