import { afterAll, beforeAll, type expect, test } from "vitest";
import { FORMATS, type VideoCodec, type VideoFormat } from "../../src/core/formats.ts";
import type { ClipName } from "../fixtures/clips.ts";
import { readBoxes, readContainer } from "../judge/container.ts";
import { type Facts, readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { ALIKE_SOUND, LIKE } from "../judge/limits.ts";
import { type Rig, startRig } from "../judge/rig.ts";
import { compareSound, readSound } from "../judge/sound.ts";
import { SECONDS, source, VIDEO_SOURCES, type VideoSource } from "./sources.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
}, 60_000);
afterAll(() => rig?.close());

const OUTPUTS = [
  { format: "mp4", codec: "h264", sound: "aac" },
  { format: "mov", codec: "h264", sound: "aac" },
  { format: "webm", codec: "vp9", sound: "opus" },
] as const satisfies { format: VideoFormat; codec: VideoCodec; sound: string }[];

const CASES = Object.entries(VIDEO_SOURCES).flatMap(([name, facts]) =>
  OUTPUTS.map((output) => ({ ...output, name: name as ClipName, ...facts })),
);

test.concurrent.for(CASES)("$name to $format", { timeout: 180_000 }, async (wanted, { expect }) => {
  const original = await source(wanted.name);
  const { format, codec } = wanted;
  const output = await rig.door.encode({
    input: rig.serve(original),
    kind: "video",
    options: { format, codec, quality: "high" },
  });
  expect(output.mime).toBe(FORMATS.video[format].mime);
  expect(await readContainer(output.path)).toBe(format);
  const facts = await readFacts(output.path);
  expect(facts.picture).toMatchObject({
    codec,
    width: wanted.size[0],
    height: wanted.size[1],
    pixel_format: "yuv420p",
    pixel_aspect: "1:1",
    rotation: 0,
    interlaced: false,
  });
  expectSameTimes(facts, await readFacts(original), expect);
  const like = await measureLikeness(output.path, original, wanted);
  console.log(`SSIM ${like.mean.toFixed(4)} worst ${like.worst.toFixed(4)} ${wanted.name} to ${format}`);
  expect(like.mean).toBeGreaterThan(wanted.like ?? LIKE);
  await expectSound(wanted, output.path, original, facts, expect);
  if (format !== "webm") {
    const order = (await readBoxes(output.path)).filter((name) => name === "moov" || name === "mdat");
    expect(order[0]).toBe("moov");
  }
});

// Every frame is there, at its time: within 2 ms, as WebM counts in whole milliseconds.
function expectSameTimes(got: Facts, original: Facts, check: typeof expect): void {
  const frame = 1 / 25;
  const gaps = ({ picture }: Facts) => (picture?.times ?? []).map((time) => time - (picture?.times[0] ?? 0));
  check(got.picture?.times.length).toBe(original.picture?.times.length);
  const wanted = gaps(original);
  const late = gaps(got).map((time, index) => Math.abs(time - (wanted[index] ?? Number.NaN)));
  check(Math.max(...late)).toBeLessThanOrEqual(0.0021);
  check(Math.abs((got.picture?.duration ?? 0) - SECONDS)).toBeLessThanOrEqual(frame + 0.002);
  check(got.picture?.times[0]).toBeLessThanOrEqual(frame);
}

async function expectSound(
  wanted: VideoSource & { sound: string },
  path: string,
  original: string,
  facts: Facts,
  check: typeof expect,
): Promise<void> {
  if (wanted.channels === null) return check(facts.sound).toBeNull();
  check(facts.sound).toMatchObject({ codec: wanted.sound, channels: wanted.channels });
  const as = { channels: 2, sample_rate: 8000 };
  const [got, reference] = await Promise.all([readSound(path, as), readSound(original, as)]);
  check(Math.abs(got.duration - reference.duration)).toBeLessThanOrEqual(0.05);
  for (const echo of compareSound(got, reference)) {
    check(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    check(Math.abs(echo.gain)).toBeLessThan(1);
  }
}
