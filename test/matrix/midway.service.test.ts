import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, test } from "vitest";
import type { EncodeKind } from "../../src/media/formats.ts";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { type Container, numberedClip } from "../integrity/numbered.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { findWrongTone, readTone } from "../integrity/read-tone.ts";
import { readFacts } from "../judge/facts.ts";
import {
  alternatingSound,
  describedTwice,
  RELAID,
  relaidClip,
  relaidSound,
  resizedClip,
} from "../judge/midway-clips.ts";
import { runNative } from "../judge/native.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { readSound } from "../judge/sound.ts";

// Streams that stop for a while, or change, in the middle of a file.

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const SECONDS = 16;
const FPS = 25;

// Priming of the source's codec, and of the output's, which a player of HLS drops and ffmpeg plays.
const LATE = 0.1;

// A player's silence where there is no sound.
const FILLED = ["-af", "aresample=async=1:first_pts=0"];

/** Returns the seconds whose sound is that of another second of the source, and those without sound. */
async function hearOf(path: string, after = FILLED): Promise<{ wrong: number[]; silent: number[] }> {
  const { heard } = await readTone(path, after);
  return {
    wrong: heard.filter(({ at, source }) => Math.abs(source - at) > LATE).map(({ at }) => at),
    silent: heard.filter(({ source }) => Number.isNaN(source)).map(({ at }) => at),
  };
}

/** Returns the numbers of pictures, and of those that are shown at another time than in the source. */
async function seeOf(path: string): Promise<{ numbers: (number | null)[]; untimely: (number | null)[] }> {
  const frames = await readFrames(path);
  const first = frames[0]?.time ?? 0;
  const late = frames.filter(({ number, time }) => Math.abs(time - first - (number ?? 0) / FPS) > 0.021);
  return { numbers: frames.map(({ number }) => number), untimely: late.map(({ number }) => number) };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

const CODECS = {
  ts: "-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p -c:a aac",
  mpg: "-c:v mpeg2video -q:v 3 -g 12 -c:a mp2",
} as const;

/** A numbered clip that lacks the sound or the pictures of some of its seconds. */
async function gapClip(extension: keyof typeof CODECS, filter: readonly string[]): Promise<string> {
  const whole = await numberedClip({
    ...{ container: "mkv" satisfies Container, frames: SECONDS * FPS },
    codec: "-c:v libx264 -preset ultrafast -crf 12 -pix_fmt yuv420p",
  });
  return makeClip(extension, ["-i", whole, ...filter, "-fps_mode", "vfr", ...CODECS[extension].split(" ")]);
}

const SILENT = ["-af", "aselect=not(between(t\\,2.15\\,13.45))"];
const UNSEEN = ["-vf", "select=not(between(n\\,50\\,349))"];

/** Converts a clip with a gap; returns the sound and the pictures of the result. */
async function convertGap(extension: keyof typeof CODECS, kind: EncodeKind, filter: readonly string[]) {
  const input = rig.serve(await gapClip(extension, filter));
  const { output, error } = await rig.door.runTask({ input, kind });
  if (!output) throw new Error(JSON.stringify(error));
  return { heard: await hearOf(output), seen: await seeOf(output) };
}

test.concurrent.for([
  { extension: "ts", kind: "video" },
  { extension: "mpg", kind: "video" },
  { extension: "ts", kind: "adaptive_video" },
] as const)(
  "sound after a gap of 11 s keeps its time ($extension to $kind)",
  LIMIT,
  async ({ extension, kind }, { expect }) => {
    const { heard, seen } = await convertGap(extension, kind, SILENT);
    expect(heard.wrong).toEqual([]);
    expect([Math.min(...heard.silent), Math.max(...heard.silent)]).toEqual([2.3, 13.3]);
    expect(seen.numbers).toEqual(range(0, 400));
  },
);

test.concurrent.for([
  { extension: "ts", kind: "video" },
  { extension: "mpg", kind: "video" },
] as const)(
  "pictures after a gap of 12 s keep their time ($extension to $kind)",
  LIMIT,
  async ({ extension, kind }, { expect }) => {
    const { heard, seen } = await convertGap(extension, kind, UNSEEN);
    expect(seen).toEqual({ numbers: [...range(0, 50), ...range(350, 400)], untimely: [] });
    expect(heard).toEqual({ wrong: [], silent: [] });
  },
);

// ffmpeg takes them for times that wrap, and so for later ones.
test.concurrent(
  "pictures and sound of times that go back by hours follow without a gap",
  LIMIT,
  async ({ expect }) => {
    const whole = await gapClip("ts", []);
    const offsets = [80_000, 0].map((offset) =>
      makeClip("ts", ["-i", whole, "-t", "4", "-c", "copy", "-output_ts_offset", String(offset)]),
    );
    const halves = await Promise.all(offsets);
    const path = await keepClip("ts", halves.join(" "), async (to) =>
      writeFile(to, Buffer.concat(await Promise.all(halves.map((half) => readFile(half))))),
    );
    const input = rig.serve(path);
    const output = await rig.door.encode({ input, kind: "video", options: { width: 160 } });
    const { picture } = await readFacts(output.path);
    expect(picture?.times).toHaveLength(198);
    expect(Math.abs((picture?.duration ?? 0) - 8)).toBeLessThan(LATE);
    const { duration } = await readSound(output.path, { channels: 2, after: FILLED });
    expect(Math.abs(duration - 8)).toBeLessThan(LATE);
  },
);

/** Returns the colors of a file's pictures in order, or of a picture's tiles. */
async function colorsOf(path: string, tile = "null"): Promise<string[]> {
  const { output } = await runNative([
    ...["-i", path, "-vf", `${tile},scale=1:1:flags=area,format=rgb24`, "-fps_mode", "passthrough"],
    ...["-f", "rawvideo", "-"],
  ]);
  return Array.from({ length: output.length / 3 }, (_, at) => {
    const [red = 0, , blue = 0] = output.subarray(3 * at);
    return red > 200 && blue < 50 ? "red" : blue > 200 && red < 50 ? "blue" : "other";
  });
}

/** Encodes and returns the paths of the pictures among the output's files, in order. */
async function filesOf(input: string, kind: EncodeKind, options: Record<string, unknown>): Promise<string[]> {
  const task = await rig.door.runTask({ input, kind, options });
  const files = task.steps.at(-1)?.output?.files;
  if (!files) throw new Error(JSON.stringify(task.error));
  const pictures = files.filter(({ mime }) => mime === "image/jpeg");
  return Promise.all(pictures.map(async ({ url }) => (await rig.door.fetchFile(url)).path));
}

const RESIZED = ["webm", "ts"] as const;
const HALVES = (each: number) => [...Array(each).fill("red"), ...Array(each).fill("blue")];

test.concurrent.for(RESIZED)(
  "pictures of %s that change their size midway are all kept",
  LIMIT,
  async (extension, { expect }) => {
    const input = rig.serve(await resizedClip(extension));
    const animation = await rig.door.encode({ input, kind: "animation", options: { format: "gif", fps: 5 } });
    expect(await colorsOf(animation.path)).toEqual(HALVES(15));
    const video = await rig.door.encode({ input, kind: "video", options: { width: 64 } });
    expect(await colorsOf(video.path)).toEqual(HALVES(30));
    expect(video.task.steps.at(-1)?.output?.counts?.pictures).toEqual({ source: 60, output: 60 });
    const sheets = await filesOf(input, "storyboard", { interval: 1, columns: 3, rows: 2, width: 32 });
    expect(await colorsOf(sheets[0] ?? "", "untile=3x2")).toEqual(HALVES(3));
    const stills = await filesOf(input, "image", { count: 4 });
    expect((await Promise.all(stills.map((path) => colorsOf(path)))).flat()).toEqual(HALVES(2));
  },
);

test.concurrent(
  "an MP4 with a sample description for each picture size keeps all pictures",
  LIMIT,
  async ({ expect }) => {
    const input = rig.serve(await describedTwice("pictures"));
    const { path } = await rig.door.encode({ input, kind: "video" });
    expect(await colorsOf(path)).toEqual(HALVES(30));
    const { picture } = await readFacts(path);
    expect([picture?.width, picture?.height, picture?.times.length]).toEqual([64, 48, 60]);
  },
);

test.concurrent.for([
  { name: "an MP4 with a sample description for each", make: () => describedTwice("sound"), channels: 2 },
  { name: "AAC", make: () => relaidSound("aac"), channels: 2 },
  { name: "AAC, from mono", make: () => relaidSound("aac", true), channels: 1 },
  { name: "MP3", make: () => relaidSound("mp3"), channels: 2 },
  { name: "an Ogg, from mono", make: () => relaidSound("ogg", true), channels: 1 },
] as const)(
  "sound that changes its channels and rate midway in $name keeps its length and the first layout",
  LIMIT,
  async ({ make, channels }, { expect }) => {
    const input = rig.serve(await make());
    for (const format of ["mp3", "flac"]) {
      const { path } = await rig.door.encode({ input, kind: "audio", options: { format } });
      const { duration, sound } = await readFacts(path);
      expect(sound).toMatchObject({ channels, sample_rate: channels === 2 ? 48_000 : 44_100 });
      expect(Math.abs(duration - 6)).toBeLessThan(0.15);
    }
  },
);

test.concurrent(
  "sound whose channels and rate change several times loses nothing, and cuts follow its own clock",
  LIMIT,
  async ({ expect }) => {
    const path = await alternatingSound("ac3");
    const original = await readTone(path);
    const input = rig.serve(path);
    for (const format of ["flac", "opus"]) {
      const whole = await rig.door.encode({ input, kind: "audio", options: { format } });
      const tone = await readTone(whole.path);
      expect(Math.abs(tone.seconds - original.seconds)).toBeLessThan(0.01);
      // Neither decoder has a tone across a change.
      expect(findWrongTone(tone, 0)).toEqual(findWrongTone(original, 0));
    }
    const cut = await rig.door.encode({
      input,
      kind: "audio",
      options: { format: "flac", start: 4.3, end: 5.8 },
    });
    expect(findWrongTone(await readTone(cut.path), 4.3)).toEqual([]);
  },
);

test.concurrent(
  "MP3 in Matroska whose channels and rate change midway keeps its duration",
  LIMIT,
  async ({ expect }) => {
    const path = await makeClip("mka", ["-i", await alternatingSound("mp3"), "-c", "copy"]);
    const { duration } = await readSound(path, { channels: 2 });
    for (const format of ["flac", "mp3"]) {
      const output = await rig.door.encode({ input: rig.serve(path), kind: "audio", options: { format } });
      const { duration: length } = await readSound(output.path, { channels: 2 });
      // MP3 is encoded in frames of 24 ms, by native ffmpeg too.
      expect(Math.abs(length - duration)).toBeLessThan(format === "mp3" ? 0.024 : 0.01);
    }
  },
);

test.concurrent.for([0, 0.4])(
  "a stream's sound that begins %f s late and changes its layout midway keeps its time",
  LIMIT,
  async (late, { expect }) => {
    const input = rig.serve(await relaidClip({ late }));
    const { output, error } = await rig.door.runTask({ input, kind: "adaptive_video" });
    expect(error).toBeNull();
    // Segments follow each other without gaps.
    expect(await hearOf(output ?? "", [])).toEqual({ wrong: [], silent: late > 0 ? [0.3] : [] });
    const { duration } = await readSound(output ?? "", { channels: 2 });
    expect(Math.abs(duration - RELAID.seconds)).toBeLessThan(LATE);
  },
);

test.concurrent("sound that changes its layout midway is not joined", LIMIT, async ({ expect }) => {
  const input = rig.serve(await relaidClip());
  for (const format of ["mp4", "webm"]) {
    const options = { format, width: 64, concat: [{ url: input }] };
    const { error } = await rig.door.runTask({ input, kind: "video", options });
    expect(error?.kind).toBe("encode_failed");
    expect(error?.message).toMatch(/^The output's sound is \d+\.\d+ s too long/);
  }
});

test.concurrent("sound that changes its layout midway is not normalized", LIMIT, async ({ expect }) => {
  const input = rig.serve(await relaidClip({ quieter: 12 }));
  const options = { format: "mp3", normalize: true };
  const { error } = await rig.door.runTask({ input, kind: "audio", options });
  expect(error).toMatchObject({
    kind: "input_unsupported",
    message:
      "The sound changes its channels or sample rate midway, so its loudness cannot be measured: leave out normalize.",
  });
  const plain = await rig.door.encode({ input, kind: "audio", options: { format: "mp3" } });
  expect((await hearOf(plain.path)).silent).toEqual([]);
});
