import { describe, expect, test } from "vitest";
import { NOISY, noisyPicture, noisyVideo, PLAIN } from "../fixtures/noisy-clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureAll } from "../judge/likeness.ts";
import { measureNoise } from "../judge/noise.ts";
import { readPicture } from "../judge/picture.ts";
import { type Encode, type Encoded, usePage, useService } from "./hosts.ts";

const LIMIT = { timeout: 240_000 };
const STRENGTHS = ["light", "medium", "strong"] as const;
type Strength = (typeof STRENGTHS)[number];

interface Measured extends Encoded {
  noise: number;
  likeness: number;
}

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

/** Encodes without the option and with each strength, and measures the noise that is left and the SSIM with the clean source. */
async function encodeAll(
  run: (more: object) => Promise<Encoded>,
  clean: string,
  pixels: "yuv420p" | "gbrp",
): Promise<{ plain: Measured; denoised: (strength: Strength) => Measured }> {
  const outputs: Encoded[] = [];
  for (const more of [{}, ...STRENGTHS.map((denoise) => ({ denoise }))]) outputs.push(await run(more));
  const shown = outputs.map(({ path }) => ({ output: path }));
  const likeness = await measureAll(shown, clean, { pixels });
  const noise = await Promise.all(outputs.map(({ path }) => measureNoise(path, PLAIN)));
  const [plain, ...denoised] = outputs.map((output, at) => ({
    ...output,
    noise: noise[at] ?? Number.NaN,
    likeness: likeness[at]?.mean ?? Number.NaN,
  })) as [Measured, ...Measured[]];
  return { plain, denoised: (strength) => denoised[STRENGTHS.indexOf(strength)] as Measured };
}

async function judgeVideo(encode: Encode, encoder: string, codec: "h264" | "av1") {
  const [noisy, clean] = await Promise.all([noisyVideo(true, codec), noisyVideo(false, codec)]);
  const options = { format: "mp4", codec: "h264", quality: "very_high" };
  const run = (more: object) => encode("video", noisy, { ...options, ...more });
  const { plain, denoised } = await encodeAll(run, clean, "yuv420p");
  for (const strength of STRENGTHS) {
    const output = denoised(strength);
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
  const run = (more: object) => encode("image", noisy, { format: "png", ...more });
  const { plain, denoised } = await encodeAll(run, clean, "gbrp");
  for (const strength of STRENGTHS) {
    const output = denoised(strength);
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
  const { encode } = useService();

  test("the light encoder denoises a video", LIMIT, () => judgeVideo(encode, "light", "h264"));
  test("the native encoder denoises a video", LIMIT, () => judgeVideo(encode, "native", "av1"));
  test("the light encoder denoises a picture", LIMIT, () => judgeImage(encode, "light", "png"));
  test("the native encoder denoises a picture", LIMIT, () => judgeImage(encode, "native", "avif"));
});

describe("by a page", () => {
  const { encode } = usePage("denoise");

  test("the stock core denoises a video", LIMIT, () => judgeVideo(encode, "wasm", "h264"));
  test("the stock core denoises a picture", LIMIT, () => judgeImage(encode, "wasm", "png"));
});
