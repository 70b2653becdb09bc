import { expect, test } from "vitest";
import { createNativeEncoder } from "../../src/encoders/native/native.ts";
import { createPictureEncoder } from "../../src/encoders/native/native-picture.ts";
import { NATIVE_PROTOCOL } from "../../src/encoders/native/native-wire.ts";
import type { Source } from "../../src/media/source.ts";
import { startRig } from "../container/rig.ts";
import { clip } from "../fixtures/clips.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { client, encoder, job, PLAN, posts, running, SOURCE, WRITTEN } from "./native-client.ts";
import { BUSY, DONE, RUNNING } from "./scripted-native.ts";

test("sends a job with its input and output, reports progress, and returns the stored files", async () => {
  const one = await encoder("one", { ask: [running(0.25), running(0.5), DONE] });
  const shares: number[] = [];
  const onProgress = (share: number) => shares.push(share);
  expect(await client([one]).encode(job({ onProgress }))).toEqual(WRITTEN);
  expect(shares).toEqual([0, 0.25, 0.5]);
  const { plan, source, chunk } = job();
  expect(one.jobs).toEqual([
    {
      ...{
        protocol: NATIVE_PROTOCOL,
        id: "run_1-0",
        plan,
        source,
        chunk,
        name: "out.mp4",
        folder: "http://service/out/",
      },
      input: { url: "http://service/in", size: 5000, etag: "v1" },
    },
  ]);
  expect(one.log).toEqual(["POST /jobs", ...Array(3).fill("GET /jobs/run_1-0?wait=0.2")]);
});

test("a job that starts slowly is polled as often as one that has not started", async () => {
  const idle = await encoder("idle", { ask: [...Array(12).fill(RUNNING), DONE] });
  // A share of 0.2 % predicts minutes of work, which would make the pause between polls long.
  const slow = await encoder("slow", { ask: [RUNNING, RUNNING, RUNNING, running(0.002)] });
  const stop = new AbortController();
  const encoding = client([slow]).encode(job({ signal: stop.signal }));
  expect(await client([idle]).encode(job())).toEqual(WRITTEN);
  const asks = slow.log.filter((line) => line.startsWith("GET")).length;
  expect(asks).toBeGreaterThan(8);
  stop.abort(new Error("enough"));
  await expect(encoding).rejects.toThrow("enough");
});

test("returns the playlists of adaptive video as files", async () => {
  const one = await encoder("one", {
    start: [
      {
        state: "done",
        written: [{ name: "240p/seg_00000.m4s", mime: "video/iso.segment", size: 7 }],
        playlists: [{ name: "240p/index.m3u8", mime: "application/vnd.apple.mpegurl", text: "#EXTM3U\n" }],
        tally: {},
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

test("sends its token, if any, with every request", async () => {
  const one = await encoder("one");
  await client([one], { token: "s3cret" }).encode(job());
  await client([one]).encode(job());
  expect(one.tokens).toEqual(["Bearer s3cret", "Bearer s3cret", undefined, undefined]);
});

test("chooses the first encoder by the chunk's index", async () => {
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

test("sends the job to the next encoder when one is busy", async () => {
  const [busy, free] = [await encoder("busy", { start: [BUSY] }), await encoder("free")];
  expect(await client([busy, free]).encode(job())).toEqual(WRITTEN);
  expect(busy.log).toEqual(["POST /jobs"]);
});

test("waits while all encoders are busy and reports each wait", async () => {
  const one = await encoder("one", { start: [BUSY, BUSY, BUSY, RUNNING] });
  const two = await encoder("two", { start: [BUSY] });
  let waits = 0;
  const onWait = () => {
    waits++;
  };
  expect(await client([one, two]).encode(job({ onWait }))).toEqual(WRITTEN);
  expect(waits).toBe(5);
  expect(posts(one, two)).toEqual([4, 3]);
});

test("refuses work that native ffmpeg cannot do, and everything without an instance or remote files", async () => {
  const one = await encoder("one");
  expect(client([one]).refuse(PLAN, SOURCE)).toBeNull();
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
  expect(client([one]).refuse(avif, photo)).toEqual({ code: "output_transparent", format: "avif" });
  expect(client([]).refuse(PLAN, SOURCE)).toEqual({ code: "not_configured" });
  await expect(client([]).encode(job())).rejects.toMatchObject({ kind: "encoder_unavailable" });
  const { remote: _, ...local } = job();
  await expect(client([one]).encode(local)).rejects.toMatchObject({ kind: "encoder_unavailable" });
});

test("runs a job on the real encoder", async () => {
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
    const remoteJob = { ...job({ plan, chunk, source, signal, id, remote, onProgress }) };
    const encoded = await native.encode(remoteJob);
    expect(encoded).toEqual({
      written: [{ name, mime: "video/mp4", size: expect.any(Number) }],
      playlists: [],
    });
    expect(await rig.sink.files()).toEqual([`${id}/${name}`]);
    expect(shares[0]).toBe(0);
    // An id stands for one job, which does not run twice.
    expect(await native.encode(remoteJob)).toEqual(encoded);
    expect(rig.sink.log.length).toBe(1);
  } finally {
    await rig.close();
  }
});

test.for([
  {
    name: "its plan",
    status: 400,
    answer: { kind: "request_invalid", message: "plan is wrong.", param: "plan" },
    kind: "encode_failed",
  },
  {
    name: "its size",
    status: 413,
    answer: { kind: "payload_too_large", message: "x".repeat(3000) },
    kind: "encode_failed",
  },
  {
    name: "its bytes",
    status: 422,
    answer: { kind: "input_unsupported", message: "It is damaged." },
    kind: "input_unsupported",
  },
  {
    name: "its token",
    status: 401,
    answer: { kind: "token_invalid", message: "The token is wrong." },
    kind: "worker_lost",
  },
  {
    name: "its protocol",
    status: 400,
    answer: { kind: "request_invalid", message: "It is 1.", param: "protocol" },
    kind: "worker_lost",
  },
] as const)("a picture that an encoder rejects for $name fails as such", async ({ status, answer, kind }) => {
  const one = { name: "one", fetch: async () => Response.json(answer, { status }) };
  const { plan, chunk, source, signal } = job();
  const input = { size: 3, read: async () => new Uint8Array(3) };
  const picture = { plan, chunk, source, signal, lane: "", input };
  await expect(createPictureEncoder({ instances: [one] }).encode(picture)).rejects.toMatchObject({ kind });
});
