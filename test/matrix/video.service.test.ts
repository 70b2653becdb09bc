import { afterAll, beforeAll, type expect, test } from "vitest";
import { FORMATS, type VideoCodec, type VideoFormat } from "../../src/media/formats.ts";
import { readBoxes, readContainer } from "../judge/container.ts";
import { type Facts, readFacts, recallFacts } from "../judge/facts.ts";
import { note } from "../judge/figures.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { ALIKE_SOUND, LIKE } from "../judge/limits.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { compareSound, readSound, recallSound } from "../judge/sound.ts";
import { makeSource, VIDEO_SOURCES, type VideoSource } from "./sources.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const OUTPUTS = [
  { format: "mp4", codec: "h264", audio: "aac" },
  { format: "mov", codec: "h264", audio: "aac" },
  { format: "webm", codec: "vp9", audio: "opus" },
] as const satisfies { format: VideoFormat; codec: VideoCodec; audio: string }[];

// A source is decoded before it is encoded, so all go to MP4, and only those whose times or streams are hard to mux to the others;
// MOV shares the muxer of MP4.
const HARD: Record<"mov" | "webm", ReadonlySet<string>> = {
  mov: new Set(["mp4_b_frames", "mp4_vfr", "mp4_silent", "many streams", "surround"]),
  webm: new Set([
    ...["mp4_b_frames", "mp4_vfr", "mp4_rotated_90", "mp4_silent", "many streams", "surround", "webm"],
    ...["mpegts_interlaced", "webm_alpha", "h264", "gif_animated", "mp4_10_bit"],
  ]),
};
const CASES = Object.entries(VIDEO_SOURCES).flatMap(([name, facts]) =>
  OUTPUTS.filter(({ format }) => format === "mp4" || HARD[format].has(name)).map((output) => ({
    ...output,
    name,
    ...facts,
  })),
);

test.concurrent.for(CASES)("$name to $format", { timeout: 240_000 }, async (expected, { expect, task }) => {
  const original = await makeSource(expected.name);
  const { format, codec } = expected;
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
    width: expected.size[0],
    height: expected.size[1],
    pixel_format: "yuv420p",
    pixel_aspect: "1:1",
    rotation: 0,
    interlaced: false,
  });
  expectSameTimes(facts, await recallFacts(original), expect);
  // A WebM keeps transparency, which the decoder of this comparison ignores on both sides.
  const isKept = format === "webm" && expected.name === "webm_alpha";
  const like = await measureLikeness(output.path, original, isKept ? {} : expected);
  note(task, { ssim: like.mean, worst: like.worst });
  expect(like.mean).toBeGreaterThan(LIKE);
  await expectSound(expected, output.path, original, facts, expect);
  if (format !== "webm") {
    const order = (await readBoxes(output.path)).filter((name) => name === "moov" || name === "mdat");
    expect(order[0]).toBe("moov");
  }
});

// Every frame is present, within 2 ms of its time, as WebM times are whole milliseconds.
function expectSameTimes(got: Facts, original: Facts, check: typeof expect): void {
  const gaps = (times: readonly number[]) => times.map((time) => time - (times[0] ?? 0));
  // A raw stream has no times; it plays at 25 fps.
  const timed = (original.picture?.times ?? []).map((time, index) =>
    Number.isNaN(time) ? index / 25 : time,
  );
  check(got.picture?.times.length).toBe(timed.length);
  const expected = gaps(timed);
  const late = gaps(got.picture?.times ?? []).map((time, index) =>
    Math.abs(time - (expected[index] ?? Number.NaN)),
  );
  check(Math.max(...late)).toBeLessThanOrEqual(0.0021);
  const frame = 1 / 25;
  const duration = (expected.at(-1) ?? 0) + frame;
  check(Math.abs((got.picture?.duration ?? 0) - duration)).toBeLessThanOrEqual(frame + 0.002);
  check(got.picture?.times[0]).toBeLessThanOrEqual(frame);
}

async function expectSound(
  expected: VideoSource & { audio: string },
  path: string,
  original: string,
  facts: Facts,
  check: typeof expect,
): Promise<void> {
  if (expected.channels === null) return check(facts.sound).toBeNull();
  check(facts.sound).toMatchObject({ codec: expected.audio, channels: expected.channels });
  const as = { channels: 2, sample_rate: 8000 };
  const fold = expected.sound ? ["-af", expected.sound] : [];
  const [got, reference] = await Promise.all([
    readSound(path, as),
    recallSound(original, { ...as, after: fold }),
  ]);
  check(Math.abs(got.duration - reference.duration)).toBeLessThanOrEqual(0.05);
  for (const echo of compareSound(got, reference)) {
    check(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    // A downmix may be quieter to avoid clipping, by 1 + 2·0.707, which is 7.7 dB.
    check(echo.gain).toBeLessThan(1);
    check(echo.gain).toBeGreaterThan(expected.sound ? -8.7 : -1);
  }
}
