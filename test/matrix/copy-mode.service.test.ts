import { afterAll, beforeAll, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { numberedClip } from "../integrity/numbered.ts";
import { findWrongTone, readTone } from "../integrity/read-tone.ts";
import { readContainer } from "../judge/container.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { runNative } from "../judge/native.ts";
import { editedFilm } from "../judge/odd-lengths.ts";
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
    const copyOptions = { ...options, mode: "copy" };
    const output = await rig.door.encode({ input: rig.serve(source), kind: "video", options: copyOptions });
    expect(await readContainer(output.path)).toBe(format);
    const { picture, sound, duration } = await readFacts(output.path);
    const { end = 2.5 } = options as { end?: number };
    const expected = Math.ceil(end * FPS - 0.001) - first;
    // Pictures are cut in the order of decoding, so that those which others need may be beyond the end.
    const held = picture?.times.length ?? 0;
    expect(held).toBeGreaterThanOrEqual(expected);
    expect(held).toBeLessThanOrEqual(expected + 4);
    const { worst, frames } = await measureLikeness(output.path, source, {
      filter: `trim=start_frame=${first}:end_frame=${first + expected}`,
      output_filter: `trim=end_frame=${expected}`,
    });
    expect([worst, frames]).toEqual([1, expected]);
    const stepOutput = output.task.steps.find(({ kind }) => kind === "video")?.output as Record<
      string,
      unknown
    >;
    const cut = stepOutput.cut as { start: number; end: number };
    // The pictures of Matroska and WebM wait for the priming of the sound.
    expect(Math.abs(cut.start - first / FPS)).toBeLessThan(
      extension === "mkv" || extension === "webm" ? 0.03 : 0.001,
    );
    expect(cut.end).toBeGreaterThan(end - 0.03);
    expect(Math.abs(cut.end - cut.start - duration)).toBeLessThan(0.03);
    expect(stepOutput.counts).toMatchObject({ pictures: { output: held } });
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

/** Two seconds and a half of noise in two tracks, in files of sound alone or beside pictures. */
function noise(extension: string, codec: string) {
  const source = (seed: number) =>
    `anoisesrc=seed=${seed}:color=pink:amplitude=0.5:sample_rate=48000:duration=2.5`;
  const pictured = extension === "mp4" || extension === "ts" || extension === "webm";
  const pictures =
    extension === "webm" ? "libvpx -deadline realtime -cpu-used 8" : "libx264 -preset ultrafast";
  return makeClip(extension, [
    ...["-f", "lavfi", "-i", source(5), "-f", "lavfi", "-i", source(6)],
    ...["-f", "lavfi", "-i", `testsrc2=size=160x90:rate=${FPS}:duration=2.5`],
    ...(pictured ? ["-map", "2:v", "-c:v", ...pictures.split(" "), "-g", "60"] : []),
    ...["-map", "0:a", ...(extension === "mp4" ? ["-map", "1:a", "-metadata:s:a:1", "language=deu"] : [])],
    ...["-c:a", codec],
  ]);
}

/** The packets of a track: their times in seconds, and hashes of their bytes. */
const listSound = (path: string, track = 0) => listPackets(path, `0:a:${track}`);

async function listPackets(path: string, track: string, before: readonly string[] = []) {
  const bare = /\.(aac|ts)$/.test(path) ? ["-bsf:a", "aac_adtstoasc"] : [];
  const args = [...before, "-i", path, "-map", track, "-c", "copy", ...bare, "-f", "framemd5", "-"];
  const text = (await runNative(args)).output.toString();
  const [, over, under] = /^#tb 0: (\d+)\/(\d+)/m.exec(text) ?? [];
  const lines = text.split("\n").filter((line) => /^\d/.test(line));
  return lines.map((line) => {
    const [, , at, length, , hash] = line.split(",").map((word) => word.trim());
    const tick = Number(over) / Number(under);
    return { at: Number(at) * tick, end: (Number(at) + Number(length)) * tick, hash };
  });
}

const SOUNDS = [
  { extension: "mp4", codec: "aac", options: { start: 0.7, end: 1.3 }, format: "aac" },
  { extension: "mp4", codec: "aac", options: { track: "de", start: 1.1, format: "aac" }, format: "aac" },
  { extension: "mp3", codec: "libmp3lame", options: { start: 1, end: 1.6 }, format: "mp3" },
  { extension: "mka", codec: "libmp3lame", options: { start: 0.9, end: 1.6 }, format: "mp3" },
  { extension: "webm", codec: "libopus", options: { start: 0.5, end: 2 }, format: "opus" },
  { extension: "ogg", codec: "libvorbis", options: { start: 0.6, end: 1.2 }, format: "ogg" },
  { extension: "opus", codec: "libopus", options: { start: 1.5 }, format: "opus" },
  { extension: "ts", codec: "aac", options: { end: 1 }, format: "aac" },
  { extension: "aac", codec: "aac", options: { start: 1.2, end: 2 }, format: "aac" },
  { extension: "mka", codec: "flac", options: {}, format: "flac" },
] as const;

const PRIMING = 0.008;

test.concurrent.for(SOUNDS)(
  "copies the sound of $extension in $codec with $options",
  LIMIT,
  async ({ extension, codec, options, format }, { expect }) => {
    const source = await noise(extension, codec);
    const { start = 0, end = 2.5, track } = options as { start?: number; end?: number; track?: string };
    const copyOptions = { ...options, mode: "copy" };
    const output = await rig.door.encode({ input: rig.serve(source), kind: "audio", options: copyOptions });
    const [got, all] = [await listSound(output.path), await listSound(source, track === undefined ? 0 : 1)];
    const first = all.findIndex(({ hash }) => hash === got[0]?.hash);
    const held = all.slice(first, first + got.length);
    expect(got.map(({ hash }) => hash)).toEqual(held.map(({ hash }) => hash));
    const stepOutput = output.task.steps.find(({ kind }) => kind === "audio")?.output as Record<
      string,
      unknown
    >;
    const cut = stepOutput.cut as { start: number; end: number };
    expect(await readContainer(output.path)).toBe(format);
    // ffmpeg counts those of WebM from their priming.
    expect(Math.abs(cut.start - Math.max(0, held[0]?.at ?? 0))).toBeLessThan(PRIMING);
    expect(cut.start).toBeLessThanOrEqual(start);
    expect(held[0]?.end).toBeGreaterThan(start);
    expect(held.at(-1)?.at).toBeLessThan(end + PRIMING);
    expect(held.at(-1)?.end).toBeGreaterThan(end - 0.03);
    expect(Math.abs(cut.end - (held.at(-1)?.end ?? 0))).toBeLessThan(0.03);
  },
);

const CUT_BETWEEN = 0.71;
const numbered = () => numberedClip({ container: "mp4", frames: 100, codec: `${H264} -g 25 -keyint_min 25` });
const hiddenStart = async () =>
  makeClip("mp4", ["-ss", `${CUT_BETWEEN}`, "-i", await numbered(), "-c", "copy"]);
const hiddenEnds = async () => editedFilm(await numbered(), [{ from: 1.01, seconds: 2 }]);

const HIDDEN = [
  { hidden: "the start", make: hiddenStart, options: {}, seconds: 3.29, pictures: 82 },
  { hidden: "the start", make: hiddenStart, options: { end: 1.5 }, seconds: 1.5, pictures: 38 },
  { hidden: "the start", make: hiddenStart, options: { start: 0.1 }, seconds: 3.29, pictures: 82 },
  { hidden: "the start", make: hiddenStart, options: { start: 0.35 }, seconds: 3, pictures: 75 },
  {
    hidden: "the start",
    make: hiddenStart,
    options: { start: 1.6, end: 1.9, format: "mov" },
    seconds: 0.61,
    pictures: 16,
  },
  { hidden: "both ends", make: hiddenEnds, options: {}, seconds: 2, pictures: 50 },
  { hidden: "both ends", make: hiddenEnds, options: { start: 0.35 }, seconds: 1.93, pictures: 49 },
] as const;

/** The times of a track's packets by their hashes, exactly as the edit list states them. */
async function timesOf(path: string, track: "0:v" | "0:a") {
  const exact = ["-advanced_editlist", "0", "-seek_timestamp", "1"];
  return new Map((await listPackets(path, track, exact)).map(({ at, hash }) => [hash, at]));
}

// Pictures are cut in the order of decoding.
const MAX_REORDERED = 2;

test.concurrent.for(HIDDEN)(
  "a copy of a source whose edit list hides $hidden keeps sound and pictures in step: $options",
  LIMIT,
  async ({ make, options, seconds, pictures }, { expect }) => {
    const source = await make();
    const copyOptions = { ...options, mode: "copy" };
    const output = await rig.door.encode({ input: rig.serve(source), kind: "video", options: copyOptions });
    const stepOutput = output.task.steps.find(({ kind }) => kind === "video")?.output;
    for (const track of ["0:v", "0:a"] as const) {
      const [times, originals] = [await timesOf(output.path, track), await timesOf(source, track)];
      const shifts = [...times].map(([hash, at]) => (originals.get(hash) ?? Number.NaN) - at);
      for (const shift of [Math.min(...shifts), Math.max(...shifts)])
        expect(shift).toBeCloseTo(stepOutput?.cut?.start ?? Number.NaN, 3);
    }
    const { duration } = await readFacts(output.path);
    expect(Math.abs(duration - seconds)).toBeLessThan(0.2);
    const { counts } = stepOutput ?? {};
    expect(counts?.pictures?.source).toBe(pictures);
    const extra = (counts?.pictures?.output ?? 0) - pictures;
    expect(extra).toBeGreaterThanOrEqual(0);
    expect(extra).toBeLessThanOrEqual(MAX_REORDERED);
    expect(counts?.sound?.source).toBeCloseTo(seconds, 1);
    expect(counts?.sound?.output).toBeCloseTo(counts?.sound?.source ?? Number.NaN, 1);
  },
);

test(
  "sound that is encoded keeps in step with copied pictures of which some are hidden",
  LIMIT,
  async ({ expect }) => {
    const source = await hiddenStart();
    const options = { volume: 0.5 };
    const { path } = await rig.door.encode({ input: rig.serve(source), kind: "video", options });
    const [times, originals] = [await timesOf(path, "0:v"), await timesOf(source, "0:v")];
    expect(
      [...times].map(([hash, at]) => Math.abs((originals.get(hash) ?? Number.NaN) - at) < 0.001),
    ).toEqual([...originals].map(() => true));
    expect(findWrongTone(await readTone(path), CUT_BETWEEN)).toEqual([]);
  },
);

test("cuts a copy of uncompressed sound between any two samples", LIMIT, async ({ expect }) => {
  const source = await noise("wav", "pcm_s16le");
  const options = { mode: "copy", start: 0.7001, end: 1.3 };
  const output = await rig.door.encode({ input: rig.serve(source), kind: "audio", options });
  expect(await readContainer(output.path)).toBe("wav");
  const samples = async (path: string) => (await runNative(["-i", path, "-f", "s16le", "-"])).output;
  const [got, all] = [await samples(output.path), await samples(source)];
  const first = Math.round(options.start * 48_000) * 2;
  expect(got.equals(all.subarray(first, options.end * 48_000 * 2))).toBe(true);
  const stepOutput = output.task.steps.find(({ kind }) => kind === "audio")?.output;
  expect(stepOutput).toMatchObject({ cut: { start: 0.7001, end: 1.3001 } });
});

const IMPOSSIBLE = [
  ["h264", "mp4", { format: "webm" }, "webm cannot hold pictures in h264 here"],
  ["mp3", "mkv", { format: "mp4", codec: "h265" }, "the pictures are h264, not h265"],
  ["vp9", "webm", { format: "mov" }, "mov cannot hold pictures in vp9 here"],
  ["h264", "ts", { start: 1 }, "mpegts can only be cut at its end"],
  ["h264", "avi", {}, "avi does not say when its pictures are shown"],
  ["h264", "mp4", { format: "mp3" }, "mp3 cannot hold sound in aac here", "audio"],
  ["mp3", "mkv", { format: "opus", start: 1 }, "opus cannot hold sound in mp3 here", "audio"],
  ["h264", "ts", { start: 1 }, "mpegts can only be cut at its end", "audio"],
  ["h264", "avi", {}, "avi does not say when its sound plays", "audio"],
] as const;

test.concurrent.for(IMPOSSIBLE)(
  "%s of %s with %o cannot be copied",
  LIMIT,
  async ([codec, extension, options, why, kind = "video" as const], { expect }) => {
    const input = rig.serve(await keyedClip(codec, extension));
    const task = await rig.door.runTask({ input, kind, options: { ...options, mode: "copy" } });
    expect(task.error).toMatchObject({ kind: "invalid_options", retryable: false });
    expect(task.error?.message).toBe(`options.mode cannot be "copy": ${why}.`);
  },
);

test.for([
  { kind: "video", options: { width: 80 } },
  { kind: "video", options: { quality: "high" } },
  { kind: "video", options: { speed: 2 } },
  { kind: "video", options: { normalize: true } },
  { kind: "video", options: { target_size: 100_000 } },
  { kind: "audio", options: { speed: 2 } },
  { kind: "audio", options: { volume: 0.5 } },
  { kind: "audio", options: { normalize: true } },
  { kind: "audio", options: { fade_out: 1 } },
  { kind: "audio", options: { channels: 1 } },
  { kind: "audio", options: { sample_rate: 44_100 } },
  { kind: "audio", options: { bitrate: 128_000 } },
  { kind: "audio", options: { quality: "high" } },
] as const)("a copy of $kind with $options is refused", async ({ kind, options }, { expect }) => {
  const body = { input: "https://example.com/a.mp4", kind, options: { mode: "copy", ...options } };
  const { status, body: answer } = await rig.door.request("POST", "/tasks", body);
  const [name] = Object.keys(options);
  const message = `options.${name} needs an encode, which options.mode "copy" rules out.`;
  expect([status, answer]).toMatchObject([400, { kind: "invalid_options", message }]);
});
