import { afterAll, beforeAll, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { readFacts } from "../judge/facts.ts";
import type { StepBody } from "../judge/front-door.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };

async function output(body: StepBody) {
  const step = await rig.door.runStep(body);
  if (step.status !== "succeeded" || !step.output) {
    throw new Error(`${body.kind}: ${JSON.stringify(step.error)}`);
  }
  return step.output;
}

test.concurrent("a probe step reports the facts that native ffprobe does", LIMIT, async ({ expect }) => {
  const original = await clip("mp4_rotated_90", { seconds: 1 });
  const url = rig.serve(original);
  const step = await rig.door.runStep({ kind: "probe", input: { url } });
  expect(step).toMatchObject({
    object: "step",
    kind: "probe",
    status: "succeeded",
    progress: 100,
    error: null,
    input: { object: "external_file", url },
    output: {
      object: "source",
      url,
      kind: "video",
      format: "mp4",
      width: 90,
      height: 160,
      rotation: 90,
      codecs: { video: "h264", audio: "aac" },
      audio: { channels: 2, sample_rate: 44_100 },
      has_alpha: false,
    },
  });
  const facts = await readFacts(original);
  expect(step.output?.filesize).toBe(facts.bytes);
  expect(Math.abs((step.output?.duration ?? 0) - facts.duration)).toBeLessThan(0.03);
  expect(step.output?.fps).toBeCloseTo(25, 1);
});

test.concurrent(
  "chains probe, ingest, video, image and audio steps by their outputs",
  LIMIT,
  async ({ expect }) => {
    const original = await clip("mp4", { seconds: 1 });
    // A separate URL, as concurrent tests use the same clip and this one disappears.
    const url = rig.origin.serve("/goes-away.mp4", { file: original });
    const probed = await output({ kind: "probe", input: { url } });
    const ingested = await output({ kind: "ingest", input: probed });
    expect(ingested.url).not.toBe(url);
    expect(ingested.filesize).toBe(probed.filesize);
    // The ingested copy must not need its origin.
    rig.origin.serve(new URL(url).pathname, { status: 404 });

    const video = await output({
      kind: "video",
      input: ingested,
      options: { format: "webm", width: 80, height: 46, fit: "fill", quality: "high" },
    });
    expect(video).toMatchObject({
      ...{ object: "source", kind: "video", format: "webm", width: 80, height: 46 },
      codecs: { video: "vp9", audio: "opus" },
    });
    expect(typeof video.encoder).toBe("string");
    const { path, mime } = await rig.door.fetchFile(video.url);
    expect(mime).toBe("video/webm");
    expect((await readFacts(path)).bytes).toBe(video.filesize);
    const like = await measureLikeness(path, original, { filter: "scale=80:46" });
    expect(like.mean).toBeGreaterThan(LIKE);

    const image = await output({
      kind: "image",
      input: video,
      options: { format: "png", start: 0.2, width: 40 },
    });
    expect(image).toMatchObject({ kind: "image", format: "png", width: 40, height: 23 });
    const still = await rig.door.fetchFile(image.url);
    const likeStill = await measureLikeness(still.path, path, {
      filter: "select=eq(n\\,5),scale=40:23",
    });
    expect(likeStill.mean).toBeGreaterThan(LIKE);

    const audio = await output({ kind: "audio", input: video, options: { format: "mp3" } });
    expect(audio).toMatchObject({ kind: "audio", format: "mp3", codecs: { video: null, audio: "mp3" } });
    expect((await readFacts((await rig.door.fetchFile(audio.url)).path)).sound?.codec).toBe("mp3");

    const again = await output({ kind: "probe", input: { url: video.url } });
    expect(again).toMatchObject({ format: "webm", width: 80, height: 46, codecs: video.codecs });
  },
);

test.concurrent("encodes a minimal hand-written Source", LIMIT, async ({ expect }) => {
  const url = rig.serve(await clip("mp4", { seconds: 1 }));
  const input = { object: "source", url, kind: "video", format: "mp4" } as const;
  const video = await output({ kind: "video", input, options: { format: "mp4", width: 80 } });
  expect(video).toMatchObject({ width: 80, height: 44 });
});

test.concurrent(
  "an adaptive video step accepts a probe's output and lists its renditions",
  LIMIT,
  async ({ expect }) => {
    const url = rig.serve(await clip("mp4", { seconds: 1 }));
    const probed = await output({ kind: "probe", input: { url } });
    const streamed = await output({ kind: "adaptive_video", input: probed, options: { format: "hls" } });
    expect(streamed).toMatchObject({ kind: "adaptive_video", format: "hls" });
    expect(streamed.renditions).toHaveLength(1);
    expect(streamed.renditions?.[0]).toMatchObject({ width: 160, height: 90 });
    for (const each of [streamed.url, streamed.renditions?.[0]?.url ?? ""]) {
      expect((await fetch(each)).status).toBe(200);
    }
  },
);

test.concurrent("a step fails cleanly for a Source with false facts", LIMIT, async ({ expect }) => {
  const url = rig.serve(await clip("mp3", { seconds: 1 }));
  const input = {
    ...{ object: "source", url, kind: "video", format: "mp4", width: 4000, height: 3000, duration: 9000 },
    codecs: { video: "h264", audio: null },
  } as const;
  const step = await rig.door.runStep({ kind: "video", input, options: { width: 80 } }, 30);
  expect(step.status).toBe("failed");
  expect(["input_no_video", "input_unsupported", "encode_failed", "encoder_unavailable"]).toContain(
    step.error?.kind,
  );
  expect(step.output).toBeNull();
});
