import { expect, test } from "vitest";
import { createNativeEncoder } from "../../src/encoders/native/native.ts";
import { createPictureEncoder } from "../../src/encoders/native/native-picture.ts";
import { NATIVE_PROTOCOL, type NativeHealth, type NativeJob } from "../../src/encoders/native/native-wire.ts";
import { engineFeatures } from "../../src/media/features.ts";
import type { Plan } from "../../src/media/plan.ts";
import type { Source } from "../../src/media/source.ts";
import { parseJob } from "../../worker/container/parse-job.ts";
import { imageSource, videoSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";

const SOURCE = videoSource();
const DENOISED = createPlan(SOURCE, "video", { denoise: "light" });
const PLAIN = createPlan(SOURCE, "video", { width: 320 });

function jobOf(plan: Plan) {
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("The plan has no chunk.");
  return {
    plan,
    chunk,
    source: SOURCE,
    id: "run_1-0",
    signal: new AbortController().signal,
    input: { size: 5000, read: async () => new Uint8Array(0) },
    remote: async () => ({
      input: { url: "http://service/in", size: 5000, etag: "v1" },
      folder: "http://service/out/",
      name: "out.mp4",
    }),
  };
}

const WRITTEN = { written: [{ name: "out.mp4", mime: "video/mp4", size: 1234 }], playlists: [] };

/** An encoder that finishes every job at its first poll, and says that it has these features; null for one that answers nothing of the kind. */
function encoderWith(features: readonly string[] | null) {
  const log: string[] = [];
  const jobs: unknown[] = [];
  const health: Partial<NativeHealth> = {
    protocol: NATIVE_PROTOCOL,
    ...(features && { reads: [NATIVE_PROTOCOL], features }),
  };
  const fetch = async (path: string, { method = "GET", body }: RequestInit = {}) => {
    log.push(`${method} ${path.split("?")[0]}`);
    if (typeof body === "string") jobs.push(JSON.parse(body));
    if (path === "/health") return Response.json(health);
    return method === "POST"
      ? Response.json({ state: "running", share: 0, speed: null }, { status: 202 })
      : Response.json({ state: "done", ...WRITTEN, tally: {} });
  };
  return { name: "fake", log, jobs, fetch };
}
const all = engineFeatures("native");
const able = () => encoderWith(all);
const unable = () => encoderWith(all.filter((name) => name !== "denoise"));

test("an encoder that lacks a feature refuses the plans that need it, by the feature's reason", async () => {
  const one = unable();
  const native = createNativeEncoder({ instances: [one] });
  await native.prepare(DENOISED);
  expect(native.refuse(DENOISED, SOURCE)).toEqual({ code: "denoising" });
  expect(native.refuse(PLAIN, SOURCE)).toBeNull();
  await expect(native.encode(jobOf(DENOISED))).rejects.toMatchObject({
    kind: "encoder_unavailable",
    message: expect.stringContaining("native: it cannot take out noise"),
    refusals: [{ encoder: "native", code: "denoising" }],
  });
  expect(one.log).toEqual(["GET /health"]);
});

test("an encoder that takes untagged HD for SD refuses it, and no other source", async () => {
  const one = encoderWith(all.filter((name) => name !== "assumed_colors"));
  const native = createNativeEncoder({ instances: [one] });
  const size = { width: 1280, height: 720, coded_width: 1280, coded_height: 720 };
  const SD = { width: 640, height: 480, coded_width: 640, coded_height: 480 };
  const tagged = { primaries: "bt709", transfer: "bt709", space: "bt709", hdr: false };
  for (const [source, refusal] of [
    [videoSource({ ...size, color: { hdr: false } }), { code: "assumed_colors" }],
    [videoSource({ ...size, color: tagged }), null],
    [videoSource({ ...SD, color: { hdr: false } }), null],
  ] as const) {
    const plan = createPlan(source, "video", { width: 320 });
    await native.prepare(plan);
    expect(native.refuse(plan, source)).toEqual(refusal);
  }
});

const film = (changes: Partial<Source>) =>
  [videoSource(changes), createPlan(videoSource(changes), "video", { width: 320 })] as const;
const picture = (changes: Partial<Source>) =>
  [imageSource(changes), createPlan(imageSource(changes), "image", { format: "webp" })] as const;
const PROFILE = { space: "CMYK" };
const SRGB_CURVE = { g: 2.4, a: 0.95, b: 0.05, c: 0.08, d: 0.04, e: 0, f: 0 };
const to_srgb = { curves: [SRGB_CURVE, SRGB_CURVE, SRGB_CURVE], matrix: [1, 0, 0, 0, 1, 0, 0, 0, 1] };

test.for([
  { feature: "restarted", other: film({ restarted: true }) },
  { feature: "seekless_sound", other: film({ codecs: { video: "h264", audio: "mp4als" } }) },
  { feature: "untimed", other: film({ edited: true, untimed: true }) },
  { feature: "hidden_start", other: film({ preroll: 0.5 }) },
  { feature: "truncated", other: film({ format: "mpegts", truncated: true }) },
  { feature: "stale_profile", other: picture({ format: "jpeg", color_profile: PROFILE }) },
  { feature: "named_format", other: picture({ format: "targa" }) },
  { feature: "named_format", other: picture({ format: "pam" }) },
  { feature: "icon_masks", other: picture({ format: "bmp", has_alpha: true }) },
  { feature: "ignored_profile", other: picture({ color_profile: { ignored: true } }) },
  {
    feature: "programs",
    other: film({ streams: [{ index: 0, kind: "audio", codec: "aac", other_program: true }] }),
  },
  { feature: "main_tracks", other: film({ sound_track: 1 }) },
] as const)(
  "an older encoder without $feature is not given such a source ($#)",
  async ({ feature, other }) => {
    const native = createNativeEncoder({ instances: [encoderWith(all.filter((name) => name !== feature))] });
    const [source, plan] = other;
    await native.prepare(plan);
    expect(native.refuse(plan, source)).toEqual({ code: feature });
    expect(plan).toMatchObject({ [feature]: true });
    const converted = picture({ color_profile: { space: "RGB", to_srgb } });
    for (const [plain, plainPlan] of [film({}), picture({}), converted]) {
      expect(plainPlan).not.toHaveProperty(feature);
      expect(native.refuse(plainPlan, plain)).toBeNull();
    }
  },
);

test("an encoder gets `flipped` under its former name `mirrored`, and reads it as `flipped`", async () => {
  const flipped = videoSource({ flipped: true, exif: true });
  const plan = createPlan(
    flipped,
    "video",
    { concat: [{ url: "https://a.example/b.mp4" }] },
    { extra: [flipped] },
  );
  const one = able();
  await createNativeEncoder({ instances: [one] }).encode({ ...jobOf(plan), source: flipped });
  const { exif: _, ...read } = flipped;
  const { flipped: own, ...known } = { ...read, mirrored: true };
  const [sent] = one.jobs as [NativeJob];
  expect([sent.source, ...(sent.plan.concat ?? []).map((part) => part.source)]).toEqual([
    known,
    known,
    known,
  ]);
  const further = [{ url: "http://service/in", size: 1, etag: "a" }];
  expect(parseJob({ ...sent, further }, null)).toMatchObject({
    source: read,
    plan: { concat: [{ source: read }, { source: read }] },
  });
});

test("work that needs a feature goes to the encoder that has it", async () => {
  const [one, other] = [unable(), able()];
  const native = createNativeEncoder({ instances: [one, other] });
  await native.prepare(DENOISED);
  expect(native.refuse(DENOISED, SOURCE)).toBeNull();
  expect(await native.encode(jobOf(DENOISED))).toEqual(WRITTEN);
  expect(one.log).toEqual(["GET /health"]);
  expect(other.log).toEqual(["GET /health", "POST /jobs", "GET /jobs/run_1-0"]);
});

test("an encoder is not asked about a plan that needs no feature, and once about several that do", async () => {
  const one = able();
  const native = createNativeEncoder({ instances: [one] });
  await native.prepare(PLAIN);
  expect(one.log).toEqual([]);
  await native.prepare(DENOISED);
  await native.prepare(DENOISED);
  expect(one.log).toEqual(["GET /health"]);
});

test("as long as one encoder can, the others are not asked", async () => {
  const [one, other] = [able(), able()];
  await createNativeEncoder({ instances: [one, other] }).prepare(DENOISED);
  expect([one.log, other.log]).toEqual([["GET /health"], []]);
});

test.each([
  { name: "says nothing of features", instance: encoderWith(null) },
  {
    name: "cannot be reached",
    instance: { name: "gone", fetch: () => Promise.reject(new Error("no route")) },
  },
])("an encoder that $name counts as able: its own check decides", async ({ instance }) => {
  const native = createNativeEncoder({ instances: [instance] });
  await native.prepare(DENOISED);
  expect(native.refuse(DENOISED, SOURCE)).toBeNull();
});

test("a picture is refused by the same reason", async () => {
  const pictures = createPictureEncoder({ instances: [unable()] });
  const still = imageSource();
  const plan = createPlan(still, "image", { denoise: "light" });
  await pictures.prepare(plan);
  expect(pictures.refuse(plan, still)).toEqual({ code: "denoising" });
});
