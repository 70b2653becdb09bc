import { afterAll, beforeAll, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { readContainer } from "../judge/container.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { compareSound, readSound, recallSound } from "../judge/sound.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const AS = { channels: 1, sample_rate: 8000 };
const FPS = 25;
const GROUP = 12;

const H264 = "-c:v libx264 -preset veryfast -crf 14 -pix_fmt yuv420p -bf 2 -sc_threshold 0";
const CODECS = {
  h264: `${H264} -c:a aac -b:a 160k`,
  mp3: `${H264} -c:a libmp3lame -b:a 160k`,
  vp9: "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 500k -pix_fmt yuv420p -c:a libopus -b:a 96k",
  h265: "-c:v libx265 -preset ultrafast -x265-params open-gop=0:log-level=error -pix_fmt yuv420p -c:a aac",
} as const;

/** Two seconds and a half with a keyframe every 0.48 s, with B-frames where the codec has them, and noise. */
function keyedClip(codec: keyof typeof CODECS, extension: "mp4" | "mov" | "mkv" | "webm" | "ts" | "avi") {
  return makeClip(extension, [
    ...["-f", "lavfi", "-i", `testsrc2=size=160x90:rate=${FPS}:duration=2.5`],
    ...["-f", "lavfi", "-i", "anoisesrc=seed=5:color=pink:amplitude=0.5:sample_rate=48000:duration=2.5"],
    ...["-g", `${GROUP}`, "-keyint_min", `${GROUP}`, ...CODECS[codec].split(" ")],
  ]);
}

const CASES = [
  { codec: "h264", extension: "mp4", options: { start: 0.7, end: 1.3 }, first: 12, format: "mp4" },
  // On a keyframe, to the end.
  { codec: "h264", extension: "mov", options: { start: 0.96, format: "mp4" }, first: 24, format: "mp4" },
  { codec: "mp3", extension: "mkv", options: { start: 1.5, end: 2 }, first: 36, format: "mp4" },
  { codec: "h264", extension: "mp4", options: { start: 1, end: 2, format: "mov" }, first: 24, format: "mov" },
  { codec: "vp9", extension: "webm", options: { start: 0.7, end: 1.9 }, first: 12, format: "webm" },
  { codec: "h265", extension: "mp4", options: { start: 1.43, mute: true }, first: 24, format: "mp4" },
  { codec: "h264", extension: "ts", options: { end: 1 }, first: 0, format: "mp4" },
] as const;

test.concurrent.for(CASES)(
  "copies $codec of $extension with $options",
  LIMIT,
  async ({ codec, extension, options, first, format }, { expect }) => {
    const source = await keyedClip(codec, extension);
    const asked = { ...options, mode: "copy" };
    const output = await rig.door.encode({ input: rig.serve(source), kind: "video", options: asked });
    expect(await readContainer(output.path)).toBe(format);
    const { picture, sound, duration } = await readFacts(output.path);
    const { end = 2.5 } = options as { end?: number };
    const wanted = Math.ceil(end * FPS - 0.001) - first;
    // Pictures are cut in the order of decoding, so that those which others need may be beyond the end.
    const held = picture?.times.length ?? 0;
    expect(held).toBeGreaterThanOrEqual(wanted);
    expect(held).toBeLessThanOrEqual(wanted + 4);
    const { worst, frames } = await measureLikeness(output.path, source, {
      filter: `trim=start_frame=${first}:end_frame=${first + wanted}`,
      output_filter: `trim=end_frame=${wanted}`,
    });
    expect([worst, frames]).toEqual([1, wanted]);
    const made = output.task.steps.find(({ kind }) => kind === "video")?.output as Record<string, unknown>;
    const cut = made.cut as { start: number; end: number };
    // The pictures of Matroska and WebM wait for the priming of the sound.
    expect(Math.abs(cut.start - first / FPS)).toBeLessThan(
      extension === "mkv" || extension === "webm" ? 0.03 : 0.001,
    );
    expect(cut.end).toBeGreaterThan(end - 0.03);
    expect(Math.abs(cut.end - cut.start - duration)).toBeLessThan(0.03);
    expect(made.counts).toMatchObject({ pictures: { output: held } });
    if ("mute" in options) {
      expect(sound).toBeNull();
      return;
    }
    const fromZero = "aresample=async=1:first_pts=0";
    const [got, original] = await Promise.all([
      readSound(output.path, { ...AS, after: ["-af", fromZero] }),
      recallSound(source, {
        ...AS,
        after: ["-af", `${fromZero},atrim=${cut.start}:${end},asetpts=PTS-STARTPTS`],
      }),
    ]);
    for (const echo of compareSound(got, original)) {
      expect(echo.correlation).toBeGreaterThan(0.97);
      expect(Math.abs(echo.lag)).toBeLessThanOrEqual(0.022);
    }
  },
);

const IMPOSSIBLE = [
  ["h264", "mp4", { format: "webm" }, "webm cannot hold pictures in h264 here"],
  ["mp3", "mkv", { format: "mp4", codec: "h265" }, "the pictures are h264, not h265"],
  ["vp9", "webm", { format: "mov" }, "mov cannot hold pictures in vp9 here"],
  ["h264", "ts", { start: 1 }, "mpegts can only be cut at its end"],
  ["h264", "avi", {}, "avi does not say when its pictures are shown"],
] as const;

test.concurrent.for(IMPOSSIBLE)(
  "%s of %s with %o cannot be copied",
  LIMIT,
  async ([codec, extension, options, why], { expect }) => {
    const input = rig.serve(await keyedClip(codec, extension));
    const task = await rig.door.runTask({ input, kind: "video", options: { ...options, mode: "copy" } });
    expect(task.error).toMatchObject({ kind: "invalid_options", retryable: false });
    expect(task.error?.message).toBe(`options.mode cannot be "copy": ${why}.`);
  },
);

test.for([
  { width: 80 },
  { quality: "high" },
  { speed: 2 },
  { normalize: true },
  { target_size: 100_000 },
] as const)("a copy with %o is refused", async (options, { expect }) => {
  const body = { input: "https://example.com/a.mp4", kind: "video", options: { mode: "copy", ...options } };
  const { status, body: answer } = await rig.door.request("POST", "/tasks", body);
  const [name] = Object.keys(options);
  const message = `options.${name} needs an encode, which options.mode "copy" rules out.`;
  expect([status, answer]).toMatchObject([400, { kind: "invalid_options", message }]);
});
