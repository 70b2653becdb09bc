import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientLab, encodeInPage, openClientLab, openKit } from "../browser/client-rig.ts";
import { NOISY, noisyPicture, noisyVideo, PLAIN } from "../fixtures/noisy-clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { measureNoise } from "../judge/noise.ts";
import { readPicture } from "../judge/picture.ts";
import { openRig, type Rig } from "../judge/rig.ts";

interface Output {
  path: string;
  encoder: string | undefined;
}
type Encode = (kind: "video" | "image", input: string, options: Record<string, unknown>) => Promise<Output>;

const LIMIT = { timeout: 240_000 };
const STRENGTHS = ["light", "medium", "strong"] as const;

/** The most noise that may remain, as a share of that of an encode without the option, and the least SSIM to be gained. */
const VIDEO_BOUNDS = {
  light: { noise: 0.9, gain: 0.01 },
  medium: { noise: 0.6, gain: 0.025 },
  strong: { noise: 0.35, gain: 0.03 },
} as const;
const IMAGE_BOUNDS = {
  light: { noise: 0.4, gain: 0.05 },
  medium: { noise: 0.3, gain: 0.05 },
  strong: { noise: 0.3, gain: 0.05 },
} as const;

async function judgeVideo(encode: Encode, encoder: string, codec: "h264" | "av1") {
  const [noisy, clean] = await Promise.all([noisyVideo(true, codec), noisyVideo(false, codec)]);
  const run = async (more: object) => {
    const output = await encode("video", noisy, {
      format: "mp4",
      codec: "h264",
      quality: "very_high",
      ...more,
    });
    const { mean } = await measureLikeness(output.path, clean);
    return { ...output, noise: await measureNoise(output.path, PLAIN), likeness: mean };
  };
  const plain = await run({});
  for (const strength of STRENGTHS) {
    const output = await run({ denoise: strength });
    expect(output.encoder).toBe(encoder);
    const { noise, gain } = VIDEO_BOUNDS[strength];
    expect(output.noise / plain.noise, `noise left by ${strength}`).toBeLessThan(noise);
    expect(output.likeness - plain.likeness, `SSIM gained by ${strength}`).toBeGreaterThan(gain);
    const { picture } = await readFacts(output.path);
    expect([picture?.width, picture?.height]).toEqual([NOISY.width, NOISY.height]);
    const times = Array.from({ length: NOISY.frames }, (_, index) => index / NOISY.fps);
    expect(picture?.times.map((time) => Number(time.toFixed(3)))).toEqual(times);
  }
}

async function judgeImage(encode: Encode, encoder: string, format: "png" | "avif") {
  const [noisy, clean] = await Promise.all([noisyPicture(true, format), noisyPicture(false, format)]);
  const run = async (more: object) => {
    const output = await encode("image", noisy, { format: "png", ...more });
    const { mean } = await measureLikeness(output.path, clean, { pixels: "gbrp" });
    return { ...output, noise: await measureNoise(output.path, PLAIN), likeness: mean };
  };
  const plain = await run({});
  for (const strength of STRENGTHS) {
    const output = await run({ denoise: strength });
    expect(output.encoder).toBe(encoder);
    const { noise, gain } = IMAGE_BOUNDS[strength];
    expect(output.noise / plain.noise, `noise left by ${strength}`).toBeLessThan(noise);
    expect(output.likeness - plain.likeness, `SSIM gained by ${strength}`).toBeGreaterThan(gain);
    const picture = await readPicture(output.path);
    expect([picture.width, picture.height]).toEqual([NOISY.width, NOISY.height]);
    const [opaque, clear] = [picture.at(80, 90)[3], picture.at(240, 90)[3]];
    expect([opaque, clear]).toEqual([255, format === "png" ? 128 : 255]);
  }
}

// Only native ffmpeg decodes AV1.
describe("by a service", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig?.close());

  const encode: Encode = async (kind, input, options) => {
    const { path, task } = await rig.door.encode({ input: rig.serve(input), kind, options });
    return { path, encoder: task.steps[2]?.output?.encoder };
  };

  test("the light encoder denoises a video", LIMIT, () => judgeVideo(encode, "light", "h264"));
  test("the native encoder denoises a video", LIMIT, () => judgeVideo(encode, "native", "av1"));
  test("the light encoder denoises a picture", LIMIT, () => judgeImage(encode, "light", "png"));
  test("the native encoder denoises a picture", LIMIT, () => judgeImage(encode, "native", "avif"));
});

describe("by a page", () => {
  let page: ClientLab;
  beforeAll(async () => {
    page = await openClientLab();
    await openKit(page.lab.page, { name: "denoise" });
  });
  afterAll(() => page?.close());

  let outputs = 0;
  const encode: Encode = async (kind, input, options) => {
    const path = join(page.folder, `output-${outputs++}.${kind === "video" ? "mp4" : options.format}`);
    return { path, encoder: await encodeInPage(page, { input, kind, options }, path) };
  };

  test("the stock core denoises a video", LIMIT, () => judgeVideo(encode, "wasm", "h264"));
  test("the stock core denoises a picture", LIMIT, () => judgeImage(encode, "wasm", "png"));
});
