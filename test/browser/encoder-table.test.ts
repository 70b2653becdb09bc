import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findBuilt } from "../../core/cache.ts";
import type { EncodeKind } from "../../src/core/formats.ts";
import type { OptionsOf } from "../../src/core/options.ts";
import { buildCore } from "../../worker/local/build/build-core.ts";
import { probe } from "../ffmpeg/native-encode.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { CLIP_FOLDER } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { measureLoudness } from "../judge/loudness.ts";
import { type Lab, openLab } from "./lab.ts";

// What each encoder of a page supports; anything else it refuses with the codes in the table.
const ENCODERS = ["copy", "avif", "canvas", "fast", "wasm", "wasm-mt", "webcodecs"] as const;
type EncoderName = (typeof ENCODERS)[number];

const YES = null;
// Where it is not built, the page still lists it and says so.
const FAST = findBuilt("core") ? YES : "not_loaded";
const TEMPO = FAST ?? "tempo";
const PICTURES = "needs_encoding";
const OTHER = "other_work";

/** The expected output, with codecs as ffprobe names them. */
interface Made {
  picture?: string;
  sound?: string;
  width?: number;
  still?: true;
  /** ffmpeg filters that make the same of what a player shows. */
  like?: string;
  /** Name of the file to judge; the one to open when absent. */
  file?: string;
  /** LUFS. */
  loudness?: number;
  /** Seconds; 2 when absent. */
  duration?: number;
  /** Pictures. */
  frames?: number;
}

interface Row<K extends EncodeKind = EncodeKind> {
  name: string;
  clip: ClipName;
  kind: K;
  options: OptionsOf<K>;
  made: Made;
  chunk_seconds?: number;
  /** In the order of `ENCODERS`: null if it encodes, or the code of its refusal. */
  cells: readonly (string | null)[];
}

const video = (
  codec: "h264" | "h265" | "vp9" | "av1",
  format: "mp4" | "mov" | "webm",
  cells: Row["cells"],
): Row<"video"> => ({
  ...{ name: `${codec} in ${format}`, clip: "mp4", kind: "video", cells },
  options: { codec, format, width: 160 },
  made: {
    ...{ picture: codec === "h265" ? "hevc" : codec, sound: format === "webm" ? "opus" : "aac", width: 160 },
  },
});

const audio = (
  format: NonNullable<OptionsOf<"audio">["format"]>,
  sound: string,
  fast: Row["cells"][number] = FAST,
): Row<"audio"> => ({
  ...{ name: format, clip: "m4a", kind: "audio", options: { format, bitrate: 96_000 }, made: { sound } },
  cells: [OTHER, OTHER, OTHER, fast, YES, OTHER, OTHER],
});

const image = (
  format: "jpeg" | "png" | "webp" | "gif" | "avif",
  picture: string,
  cells: Row["cells"] = [OTHER, OTHER, OTHER, OTHER, YES, OTHER, OTHER],
): Row<"image"> => ({
  ...{ name: format, clip: "png", kind: "image", options: { format, width: 160 }, cells },
  made: { picture, width: 160, still: true },
});

const DRAWN = [OTHER, OTHER, YES, OTHER, YES, OTHER, OTHER] as const;

const animation = (format: "gif" | "webp", picture: string, canvas: string): Row<"animation"> => ({
  ...{ name: `animated ${format}`, clip: "mp4", kind: "animation" },
  ...{ options: { format, width: 160, fps: 10 }, made: { picture, width: 160 } },
  cells: [OTHER, OTHER, canvas, OTHER, YES, OTHER, OTHER],
});

const TURNED = { rotate: 90, flip: "horizontal", crop: "16:9", width: 160 } as const;
// Of 320×180 pixels; the first picture alone, as a still has no other.
const LIKE_TURNED = "trim=end_frame=1,transpose=clock,hflip,crop=180:101:0:109,scale=160:90";

const LEVELED = { normalize: true, target_lufs: -20 } as const;

const ROWS: readonly Row[] = [
  video("h264", "mp4", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
  video("h264", "mov", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
  // WebCodecs would do it too on a machine with an H.265 encoder.
  video("h265", "mp4", [PICTURES, OTHER, OTHER, OTHER, "output_codec", YES, "output_codec"]),
  video("vp9", "webm", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
  video("av1", "mp4", [PICTURES, OTHER, OTHER, OTHER, "output_codec", OTHER, YES]),
  video("av1", "webm", [PICTURES, OTHER, OTHER, OTHER, "output_codec", OTHER, YES]),
  {
    ...{
      name: "the same pictures in another container",
      clip: "mp4",
      kind: "video",
      options: { format: "mov" },
    },
    ...{
      made: { picture: "h264", sound: "aac", width: 320 },
      cells: [YES, OTHER, OTHER, FAST, YES, OTHER, OTHER],
    },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "h264 turned, mirrored and cut", options: { codec: "h264", ...TURNED } },
    made: { picture: "h264", sound: "aac", width: 160, like: LIKE_TURNED },
  },
  {
    ...image("jpeg", "mjpeg", DRAWN),
    ...{ name: "a still turned, mirrored and cut", options: { format: "jpeg", ...TURNED } },
    made: { picture: "mjpeg", width: 160, still: true, like: LIKE_TURNED },
  },
  {
    ...image("jpeg", "mjpeg", [OTHER, OTHER, "animated", OTHER, YES, OTHER, OTHER]),
    ...{ name: "a frame turned, mirrored and cut", clip: "mp4", options: { format: "jpeg", ...TURNED } },
    made: { picture: "mjpeg", width: 160, still: true, like: LIKE_TURNED },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "h264 with normalized sound", options: { codec: "h264", width: 160, ...LEVELED } },
    made: { picture: "h264", sound: "aac", width: 160, loudness: -20 },
  },
  {
    ...video("vp9", "webm", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "vp9 with normalized sound", options: { format: "webm", width: 160, ...LEVELED } },
    made: { picture: "vp9", sound: "opus", width: 160, loudness: -20 },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "h264 without sound", options: { codec: "h264", width: 160, mute: true } },
    made: { picture: "h264", width: 160 },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "h264 with opus, in chunks", chunk_seconds: 0.7 },
    options: { codec: "h264", width: 160, audio_codec: "opus" },
    made: { picture: "h264", sound: "opus", width: 160, frames: 50 },
  },
  {
    ...video("vp9", "webm", [PICTURES, OTHER, OTHER, OTHER, YES, OTHER, YES]),
    ...{ name: "vp9 with vorbis", options: { format: "webm", width: 160, audio_codec: "vorbis" } },
    made: { picture: "vp9", sound: "vorbis", width: 160, frames: 50 },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, TEMPO, YES, OTHER, YES]),
    ...{ name: "slow h264", options: { codec: "h264", width: 160, speed: 0.8 } },
    made: { picture: "h264", sound: "aac", width: 160, duration: 2.5, frames: 50 },
  },
  {
    ...video("vp9", "webm", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "fast vp9 without sound", options: { format: "webm", width: 160, speed: 2, mute: true } },
    made: { picture: "vp9", width: 160, duration: 1, frames: 25 },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, TEMPO, YES, OTHER, YES]),
    ...{ name: "fast h264 in chunks", options: { codec: "h264", width: 160, speed: 2 }, chunk_seconds: 0.7 },
    made: {
      ...{ picture: "h264", sound: "aac", width: 160, duration: 1, frames: 25 },
      like: "select=not(mod(n\\,2)),scale=160:90",
    },
  },
  {
    ...audio("mp3", "mp3", TEMPO),
    ...{ name: "fast mp3", options: { format: "mp3", speed: 2 }, made: { sound: "mp3", duration: 1 } },
  },
  {
    ...audio("mp3", "mp3"),
    ...{ name: "normalized mp3", options: { format: "mp3", channels: 1, fade_in: 0.1, ...LEVELED } },
    made: { sound: "mp3", loudness: -20 },
  },
  audio("mp3", "mp3"),
  audio("aac", "aac"),
  audio("ogg", "vorbis", OTHER),
  audio("opus", "opus"),
  audio("wav", "pcm_s16le"),
  audio("flac", "flac"),
  image("jpeg", "mjpeg", DRAWN),
  image("png", "png"),
  image("webp", "webp", DRAWN),
  image("gif", "gif"),
  animation("gif", "gif", OTHER),
  {
    ...{ name: "a storyboard", clip: "mp4", kind: "storyboard", options: { interval: 1, width: 160 } },
    made: {
      picture: "mjpeg",
      still: true,
      file: "sheet_0001.jpg",
      like: "fps=1:round=up,scale=160:90,tile=2x1",
    },
    cells: [OTHER, OTHER, "animated", OTHER, YES, OTHER, OTHER],
  },
  image("avif", "av1", [OTHER, YES, OTHER, OTHER, "output_format", OTHER, OTHER]),
  {
    ...{ name: "hls", clip: "mp4", kind: "adaptive_video", options: { width: 160 } },
    ...{
      made: { picture: "h264", sound: "aac", width: 160 },
      cells: [OTHER, OTHER, OTHER, FAST, YES, OTHER, YES],
    },
  },
];

let lab: Lab;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "framewright-table-"));
  await buildCore(join(CLIP_FOLDER, "core"));
  await symlink(join(CLIP_FOLDER, "core"), join(home, "core"));
  const threaded = createRequire(import.meta.url).resolve("@ffmpeg/core-mt");
  await symlink(join(dirname(threaded), "..", "esm"), join(home, "mt"));
  lab = await openLab({ files: home, isolated: true });
});
afterAll(async () => {
  await lab?.close();
  await rm(home, { recursive: true, force: true });
});

test("the page has exactly these encoders", async () => {
  const names = await lab.page.evaluate(async () => {
    const { encoderNames } = await import("./encoder-table.page.ts");
    return encoderNames();
  });
  expect(names.toSorted()).toEqual([...ENCODERS].toSorted());
});

test.for(ROWS)("$name", async ({ name, kind, options, made, cells, chunk_seconds, ...row }) => {
  const path = await clip(row.clip, { size: "320x180", seconds: 2 });
  await symlink(path, join(home, basename(path))).catch(() => {});
  const cell = {
    clip: `/files/${basename(path)}`,
    source: await probe(path),
    kind,
    options,
    ...(chunk_seconds && { chunk_seconds }),
  };
  const found: Partial<Record<EncoderName, string | null>> = {};
  for (const encoder of ENCODERS) {
    const answer = await lab.page.evaluate(
      async (given) => {
        const { fillCell } = await import("./encoder-table.page.ts");
        return fillCell(given as Parameters<typeof fillCell>[0]);
      },
      { ...cell, encoder },
    );
    found[encoder] = "refusal" in answer ? answer.refusal : YES;
    if ("refusal" in answer) continue;
    const folder = join(home, "out", `${name} ${encoder}`);
    for (const file of answer.files) {
      await mkdir(dirname(join(folder, file.name)), { recursive: true });
      await writeFile(join(folder, file.name), Buffer.from(file.base64, "base64"));
    }
    const file = join(folder, made.file ?? answer.main);
    const { picture, sound, duration } = await readFacts(file);
    const what = `${name} by ${encoder}`;
    expect([picture?.codec, sound?.codec], what).toEqual([made.picture, made.sound]);
    if (made.width) {
      expect([picture?.width, picture?.height], what).toEqual([made.width, (made.width * 9) / 16]);
    }
    if (made.like) {
      const { worst } = await measureLikeness(file, path, {
        ...{ filter: made.like, output_filter: made.frames ? "null" : "trim=end_frame=1" },
      });
      expect(worst, what).toBeGreaterThan(0.9);
    }
    if (made.loudness) {
      const { integrated } = await measureLoudness(file);
      expect(Math.abs(integrated - made.loudness), `${what}: ${integrated} LUFS`).toBeLessThan(0.5);
    }
    // The duration of raw AAC is only a guess.
    const { duration: wanted = 2, frames } = made;
    if (!made.still && made.sound !== "aac") expect(Math.abs(duration - wanted), what).toBeLessThan(0.1);
    if (picture && !made.still) expect(Math.abs(picture.duration - wanted), what).toBeLessThan(0.1);
    if (frames) expect(picture?.times.length, what).toBe(frames);
  }
  expect(found).toEqual(Object.fromEntries(ENCODERS.map((encoder, index) => [encoder, cells[index]])));
});

test("the page logs no errors", () => {
  expect(lab.complaints).toEqual([]);
});
