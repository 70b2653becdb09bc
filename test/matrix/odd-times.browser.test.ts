import { describe, expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { numberedClip } from "../integrity/numbered.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { readTone } from "../integrity/read-tone.ts";
import { readFacts } from "../judge/facts.ts";
import { RELAID_FILMS, relaidFilm, relaidStream } from "../judge/midway-clips.ts";
import { runNative } from "../judge/native.ts";
import {
  editedMovie,
  fragmented,
  joined,
  lateMatroska,
  miscounted,
  rewritten,
  stream,
  truehd,
  unknownDurations,
  withOddMarkers,
} from "../judge/odd-lengths.ts";
import { readSound } from "../judge/sound.ts";
import { cutOff } from "../judge/wrong-headers.ts";
import { type Encode, usePage, useService } from "./hosts.ts";

const LIMIT = { timeout: 240_000 };
const PICTURES = 40;
const SMALL = { format: "mp4", width: 80 } as const;
const FRAGMENTS = ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"];

/** An MP4 with sound whose index gives all pictures the time 0. */
async function untimedClip(): Promise<string> {
  const codec = "-c:v libx264 -preset ultrafast -g 10 -pix_fmt yuv420p";
  const path = await numberedClip({ container: "mp4", frames: PICTURES, codec });
  return rewritten(path, "mp4", "untimed", (file) => {
    // The run of all pictures: its count, then the ticks of each.
    file.writeUInt32BE(0, file.indexOf("stts") + 16);
    return file;
  });
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

async function judgeUntimed(encode: Encode) {
  const input = await untimedClip();
  const numbers = async (kind: "video" | "image" | "animation", options: object) =>
    (await readFrames((await encode(kind, input, options)).path)).map(({ number }) => number);
  const whole = await readFrames((await encode("video", input, { format: "mp4" })).path);
  expect(whole.map(({ number }) => number)).toEqual(range(0, PICTURES));
  expect(whole.map(({ time }) => Math.round(time * 1000))).toEqual(range(0, PICTURES).map((n) => n * 40));
  expect(await numbers("video", { start: 0.4, end: 0.8 })).toEqual(range(10, 20));
  expect(await numbers("image", { format: "png", start: 1.01 })).toEqual([25]);
  expect(await numbers("image", { format: "png", start: 1.59 })).toEqual([39]);
  // A part that precedes the one before it is read from another input.
  const parts = [
    { start: 1, end: 1.4 },
    { start: 0.2, end: 0.6 },
  ];
  const moved = await numbers("animation", { format: "gif", fps: 25, parts });
  expect(moved).toEqual([...range(25, 35), ...range(5, 15)]);
}

/** Copies from between two keyframes of a fragmented MP4, whose groups of pictures last 0.4 s. */
async function judgeFragmented(encode: Encode) {
  const codec = "-c:v libx264 -preset ultrafast -g 10 -pix_fmt yuv420p";
  const whole = await numberedClip({ container: "mp4", frames: PICTURES, codec });
  const input = await makeClip("mp4", ["-i", whole, "-c", "copy", ...FRAGMENTS]);
  const { path } = await encode("video", input, { mode: "copy", start: 1 });
  expect((await readFrames(path)).map(({ number }) => number)).toEqual(range(20, PICTURES));
}

/** A silent clip of 5 pictures a second, whose middle half comes as a burst of 125 a second. */
async function burstClip(): Promise<string> {
  const codec = "-c:v libx264 -preset ultrafast -crf 12 -g 10 -bf 0 -pix_fmt yuv420p";
  const whole = await numberedClip({ container: "mp4", frames: 2 * PICTURES, codec });
  const times = "if(lt(N,20),N*200,if(lt(N,60),4000+(N-20)*8,4320+(N-60)*200))";
  return makeClip("mp4", [
    ...["-i", whole, "-an", "-vf", `settb=1/1000,setpts='${times}'`, "-fps_mode", "passthrough"],
    ...["-enc_time_base:v", "1:1000", "-video_track_timescale", "1000", ...codec.split(" ")],
  ]);
}

const REORDERED = "-c:v libx264 -preset ultrafast -g 25 -bf 2 -pix_fmt yuv420p";
const reordered = () => numberedClip({ container: "mp4", frames: PICTURES * 2, codec: REORDERED });

/** Seconds that the edit list of a copied clip hides; they end within picture 13. */
const HIDDEN = 0.53;

const copiedClip = async (...args: string[]) =>
  makeClip("mp4", ["-ss", `${HIDDEN}`, "-i", await reordered(), "-c", "copy", ...args]);

/** The same with hidden pictures out of order, none of which the index lists as a keyframe, as cameras cut slow motion. */
async function disorderedClip(): Promise<string> {
  return rewritten(await copiedClip(), "mp4", "disordered", (file) => {
    const keyframes = file.indexOf("stss") + 8;
    const [count, entries] = [file.readUInt32BE(keyframes), keyframes + 4];
    file.writeUInt32BE(count - 1, keyframes);
    file.copy(file, entries, entries + 4, entries + 4 * count);
    // The second picture is shown two pictures before it is decoded.
    file.writeInt32BE(-2 * file.readUInt32BE(file.indexOf("stts") + 16), file.indexOf("ctts") + 24);
    return file;
  });
}

const TRIMS = [
  { parts: [{ start: 0, end: 0.3 }] },
  { parts: [{ start: 0.02, end: 0.32 }] },
  { parts: [{ start: 0.31, end: 0.51 }] },
  {
    parts: [
      { start: 1, end: 1.2 },
      { start: 0, end: 0.1 },
      { start: 0.305, end: 0.5 },
    ],
  },
];

/** Judges trims of a numbered clip, whose picture 0 is at `-hidden` seconds, by the picture that is visible where each begins. */
async function judgeTrims(encode: Encode, input: string, hidden: number, options: object = {}) {
  for (const { parts } of TRIMS) {
    let at = 0;
    const expected = parts.flatMap(({ start, end }) => {
      const own = range(0, PICTURES * 2).flatMap((number) => {
        const time = number / 25 - hidden - start;
        const isShown = time > -0.0399 && time < end - start - 0.0001;
        return isShown ? [[number, Math.round((at + Math.max(0, time)) * 1000)]] : [];
      });
      at += end - start;
      return own;
    });
    const trim = parts.length > 1 ? { parts } : parts[0];
    const { path } = await encode("video", input, { format: "mp4", ...options, ...trim });
    const shown = (await readFrames(path)).map(({ number, time }) => [number, Math.round(time * 1000)]);
    expect(shown, JSON.stringify(trim)).toEqual(expected);
  }
}

/** Clips whose sound or stated length ends after the last picture begins; `from` is the start of a still near that end. */
const ENDINGS = [
  { extension: "ts", args: ["-vf", "fps=5", "-preset", "ultrafast"], from: 3.206 },
  { extension: "mpg", args: ["-c:v", "mpeg2video", "-c:a", "mp2"], from: 3.21 },
  { extension: "flv", args: ["-c", "copy"], from: 3.25 },
  { extension: "avi", args: ["-c:v", "mpeg4", "-bf", "2", "-c:a", "mp3"], from: 3.235 },
] as const;

async function judgeLastPictures(encode: Encode) {
  for (const { extension, args, from } of ENDINGS) {
    const input = await makeClip(extension, ["-i", await reordered(), ...args]);
    const last = (await readFrames(input)).at(-1)?.number;
    const { path } = await encode("image", input, { format: "png", start: from });
    const shown = (await readFrames(path)).map(({ number }) => number);
    expect(shown, `${extension} ${args.join(" ")}`).toEqual([last]);
  }
}

/** Checks that pictures and sound stay in step in a whole clip whose edit list begins 10 ms after picture 13. */
async function judgeWhole(encode: Encode, input: string) {
  const { path } = await encode("video", input, { format: "mp4", width: 160 });
  const shown = (await readFrames(path)).map(({ number, time }) => [number, Math.round(time * 1000)]);
  expect(shown).toEqual(range(13, PICTURES * 2).map((number) => [number, Math.max(0, number * 40 - 530)]));
  const { seconds, heard } = await readTone(path);
  expect(Math.abs(seconds - 2.67)).toBeLessThan(0.03);
  expect(heard.length).toBeGreaterThan(5);
  for (const { at, source } of heard) expect(Math.abs(source - at - HIDDEN)).toBeLessThan(0.01);
  const still = await encode("image", input, { format: "png" });
  expect((await readFrames(still.path)).map(({ number }) => number)).toEqual([13]);
}

/** ffmpeg's decoder shows pictures at their decoding times after one out of order, here 40 ms early. */
async function judgeDisordered(encode: Encode) {
  const { path } = await encode("video", await disorderedClip(), { format: "mp4" });
  const numbers = (await readFrames(path)).map(({ number }) => number);
  expect(numbers).toEqual(range(14, PICTURES * 2));
}

async function judgeFragmentedTrims(encode: Encode) {
  const input = await copiedClip(...FRAGMENTS);
  const [first] = await readFrames(input);
  await judgeTrims(encode, input, -(first?.time ?? 0));
}

async function judgeEarly(encode: Encode) {
  const early = ["-output_ts_offset", "-0.4", "-avoid_negative_ts", "disabled"];
  const input = await makeClip("mkv", ["-i", await reordered(), "-c", "copy", ...early]);
  for (const options of [SMALL, { format: "mp4", mode: "copy" }])
    await expect(encode("video", input, options)).rejects.toThrow(
      /pictures or sound up to 0\.4\d* s before time 0/,
    );
}

/** Three white pictures of 5 s each, whose sound lasts 2 s longer. */
const slides = () =>
  makeClip("mp4", [
    ...["-f", "lavfi", "-i", "color=white:size=64x64:rate=1/5:duration=15"],
    ...["-f", "lavfi", "-i", "sine=duration=17", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac"],
  ]);

async function judgeSlides(encode: Encode) {
  const options = { picture_fade_in: 2, picture_fade_out: 2, quality: "very_high" };
  const { path } = await encode("video", await slides(), options);
  const args = [
    "-i",
    path,
    "-vf",
    "scale=1:1,format=gray",
    "-fps_mode",
    "passthrough",
    "-f",
    "rawvideo",
    "-",
  ];
  const levels = [...(await runNative(args)).output];
  expect(levels).toHaveLength(15 * 24);
  for (const [at, level] of levels.entries()) {
    const share = Math.max(0, Math.min(1, at / 48, (levels.length - at) / 48));
    expect(Math.abs(level - 255 * share), `picture ${at}`).toBeLessThan(12);
  }
}

/** Converts raw Motion JPEG with thumbnails, whose name has no extension by which ffmpeg would recognize it. */
async function judgeMotionJpeg(encode: Encode, options: object = {}) {
  const codec = "-c:v libx264 -preset ultrafast -crf 10 -pix_fmt yuv420p";
  const clip = await numberedClip({ container: "mp4", frames: PICTURES, codec });
  const input = await withOddMarkers(
    await makeClip("bin", ["-i", clip, "-an", "-c:v", "mjpeg", "-q:v", "2", "-f", "mjpeg"]),
  );
  const { path } = await encode("video", input, { format: "mp4", ...options });
  const shown = (await readFrames(path)).map(({ number, time }) => [number, Math.round(time * 1000)]);
  expect(shown).toEqual(range(0, PICTURES).map((number) => [number, number * 40]));
  const part = await encode("video", input, { format: "mp4", start: 0.4, end: 0.8, ...options });
  expect((await readFrames(part.path)).map(({ number }) => number)).toEqual(range(10, 20));
  const still = await encode("image", input, { format: "png", start: 1.01 });
  expect((await readFrames(still.path)).map(({ number }) => number)).toEqual([25]);
}

async function judgeRelaid(encode: Encode) {
  const films = Object.keys(RELAID_FILMS) as (keyof typeof RELAID_FILMS)[];
  for (const input of [await relaidStream(), ...(await Promise.all(films.map(relaidFilm)))]) {
    const copy = { format: "mp4", mode: "copy" };
    await expect(encode("video", input, copy), input).rejects.toThrow(
      /sample rate or channels change midway/,
    );
    const { path } = await encode("video", input, SMALL);
    expect((await readFacts(path)).picture?.times, input).toHaveLength(150);
    // Each half ends with the padding of its codec.
    expect(Math.abs((await readSound(path, { channels: 1 })).duration - 6), input).toBeLessThan(0.1);
  }
}

const TRUNCATED = [
  { extension: "mkv", codec: REORDERED, format: "mp4", options: {} },
  { extension: "webm", codec: "-c:v libvpx-vp9 -deadline realtime -cpu-used 8", format: "webm", options: {} },
  { extension: "mp4", codec: `${REORDERED} -movflags +faststart`, format: "mp4", options: { partial: true } },
] as const;

/** Judges outputs of files that end within a packet by the pictures and the sound that native ffmpeg reads from them. */
async function judgeTruncated(encode: Encode) {
  for (const { extension, codec, format, options } of TRUNCATED) {
    const whole = await numberedClip({ container: extension, frames: PICTURES * 4, codec });
    const input = await cutOff(whole, extension, 0.9);
    const intact = (await readFrames(input)).map(({ number }) => number);
    const copy = await encode("video", input, { format, mode: "copy", ...options });
    expect((await readFrames(copy.path)).map(({ number }) => number)).toEqual(intact);
    const [heard, kept] = await Promise.all(
      [input, copy.path].map((path) => readSound(path, { channels: 1 })),
    );
    expect(Math.abs((kept?.duration ?? 0) - (heard?.duration ?? 0))).toBeLessThan(0.03);
    const still = await encode("image", input, { format: "png", start: 5.23, ...options });
    expect((await readFrames(still.path)).map(({ number }) => number)).toEqual([130]);
  }
}

function judgeAll(encode: Encode) {
  test("a file that is cut off keeps every picture and all sound that native ffmpeg reads", LIMIT, () =>
    judgeTruncated(encode),
  );
  test("sound that changes its rate midway is encoded whole, and a copy of it is refused", LIMIT, () =>
    judgeRelaid(encode),
  );
  test("raw Motion JPEG is a video of 25 pictures a second", LIMIT, () => judgeMotionJpeg(encode));
  test("pictures that all have the time 0 play at 25 a second", LIMIT, () => judgeUntimed(encode));
  test("a copy of fragments begins at a keyframe near its start", LIMIT, () => judgeFragmented(encode));
  test("a trim of a copied part starts with the picture that is visible there", LIMIT, async () => {
    const input = await copiedClip();
    await judgeTrims(encode, input, HIDDEN);
    await judgeWhole(encode, input);
    const { path } = await encode("image", input, { format: "png", start: 0.305 });
    expect((await readFrames(path)).map(({ number }) => number)).toEqual([20]);
  });
  test("an edit list may begin before the first keyframe", LIMIT, () => judgeDisordered(encode));
  test("so does a trim of fragments", LIMIT, () => judgeFragmentedTrims(encode));
  test("a still near the end shows the last picture", LIMIT, () => judgeLastPictures(encode));
  test("Matroska with times before 0 is refused", LIMIT, () => judgeEarly(encode));
  test("long pictures fade smoothly, and out at their own end", LIMIT, () => judgeSlides(encode));
}

describe("by a service", () => {
  const { encode, rig } = useService();
  judgeAll(encode);

  test("pictures of a burst that a faster or joined video does not show are dropped", LIMIT, async () => {
    const input = rig().serve(await burstClip());
    for (const options of [{ speed: 2 }, { concat: [{ url: input }] }]) {
      const { path, task } = await rig().door.encode({
        input,
        kind: "video",
        options: { ...SMALL, ...options },
      });
      const { counts, dropped } = task.steps[2]?.output ?? {};
      const parts = "concat" in options ? 2 : 1;
      const shown = new Set((await readFrames(path)).map(({ number }) => number)).size;
      expect(shown).toBeLessThan(70);
      const lost = parts * (2 * PICTURES - shown);
      // Each part may lose one picture more or less, as its burst begins between two pictures of the output.
      expect(Math.abs((counts?.pictures?.crowded ?? 0) - lost)).toBeLessThanOrEqual(parts);
      expect(dropped).toContainEqual({ kind: "pictures", index: 0, reason: "not_supported" });
    }
    const plain = await rig().door.encode({ input, kind: "video", options: { format: "mp4", width: 160 } });
    expect((await readFrames(plain.path)).map(({ number }) => number)).toEqual(range(0, 2 * PICTURES));
    expect(plain.task.steps[2]?.output?.dropped).toBeUndefined();
  });

  test("native ffmpeg trims a copied part alike", LIMIT, async () =>
    judgeTrims(encode, await copiedClip(), HIDDEN, { codec: "h265" }),
  );
  test("native ffmpeg reads raw Motion JPEG in the same way", LIMIT, () =>
    judgeMotionJpeg(encode, { codec: "h265" }),
  );
});

const CUT = [
  { from: 0, seconds: 1.5 },
  { from: 3.5, seconds: 2.5 },
];
const REPEATED = [
  { from: 1, seconds: 2 },
  { from: 1, seconds: 2 },
];
/** Files whose headers and packets disagree, by what the service makes of them in lengths.service.test.ts. */
const LENGTHS = [
  { name: "TrueHD in Matroska", make: truehd, kind: "audio", options: { format: "mp3" }, seconds: 2 },
  {
    name: "a part cut out by edits",
    make: () => editedMovie(CUT),
    kind: "audio",
    options: { format: "wav" },
    seconds: 4,
  },
  {
    name: "a part repeated by edits",
    make: () => editedMovie(REPEATED),
    kind: "video",
    options: SMALL,
    seconds: 4,
  },
  { name: "unknown durations", make: unknownDurations, kind: "video", options: SMALL, seconds: 6 },
  {
    name: "Matroska that starts at 100 s",
    make: () => lateMatroska(true),
    kind: "video",
    options: { ...SMALL, start: 4 },
    seconds: 2,
  },
  {
    name: "an MP3 that counts a tenth of its frames",
    make: () => miscounted(0.1, "-q:a", "4"),
    kind: "audio",
    options: { format: "flac" },
    seconds: 6,
  },
  {
    name: "a transport stream whose clock restarts",
    make: async () => joined("ts", [await stream(), await stream()]),
    kind: "video",
    options: { ...SMALL, start: 7, end: 10 },
    seconds: 3,
  },
] as const;

describe("by a page", () => {
  const { encode } = usePage("odd-times");
  judgeAll(encode);

  test.for(LENGTHS)("$name: $kind lasts $seconds s", LIMIT, async ({ make, kind, options, seconds }) => {
    const { path } = await encode(kind, await make(), options);
    const { duration } = await readSound(path, { channels: 1 });
    expect(Math.abs(duration - seconds)).toBeLessThan(0.15);
    if (kind === "audio") return;
    expect(Math.abs(((await readFacts(path)).picture?.times.length ?? 0) - seconds * 25)).toBeLessThan(2);
  });

  test("an MP4 that is cut off needs partial, which converts what is whole", LIMIT, async () => {
    // The last fragment has its pictures before its sound.
    const input = await cutOff(await fragmented(), "mp4", 0.9);
    await expect(encode("video", input, SMALL)).rejects.toThrow("options.partial converts that part");
    const { path } = await encode("video", input, { ...SMALL, partial: true });
    expect((await readFacts(path)).picture?.times).toHaveLength(141);
    expect((await readSound(path, { channels: 1 })).duration).toBeCloseTo(4, 1);
  });
});
