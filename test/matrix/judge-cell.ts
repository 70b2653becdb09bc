import type { expect as Expect } from "vitest";
import { type AudioFormat, FORMATS, type ImageFormat, type VideoFormat } from "../../src/media/formats.ts";
import { endlessSound, markedClip, markedGif, markedStill, noiseSound } from "../judge/clips.ts";
import { readBoxes, readContainer, readWebpAnimation } from "../judge/container.ts";
import { countPacketBytes, readFacts } from "../judge/facts.ts";
import { measureAndRead } from "../judge/likeness.ts";
import { ALIKE_SOUND } from "../judge/limits.ts";
import { runNative } from "../judge/native.ts";
import type { Picture } from "../judge/picture.ts";
import { parseMaster } from "../judge/playlists.ts";
import { wrongPoints } from "../judge/quadrants.ts";
import { compareSound, readSound, recallSound, type Sound } from "../judge/sound.ts";
import { BITRATE, BUSY_SECONDS, type Cell, SHOWN } from "./cells.ts";
import { type Expected, expect as expected, isAnimation, isBusy } from "./expected.ts";

/** Measurements of a cell. */
export type Figures = Record<string, number>;
type Check = typeof Expect;

// More than the light encoder may hold in memory.
const BULK = 41 * 2 ** 20;

/** Makes the source of a cell and returns its path. */
export function sourceOf(cell: Cell): Promise<string> {
  const { seconds } = SHOWN;
  switch (cell.from) {
    case "sound":
      return noiseSound("flac", seconds);
    case "endless":
      return endlessSound(seconds);
    case "bulky":
      return endlessSound(seconds, BULK);
    case "png":
    case "avif":
      return markedStill(cell.from);
    case "gif":
      return markedGif();
    default:
      return isBusy(cell) ? markedClip(cell.from, BUSY_SECONDS, true) : markedClip(cell.from, seconds);
  }
}

/** Checks the output of a cell at `path`; for a stream, a file into which it was played. */
export async function judgeCell(cell: Cell, path: string, original: string, check: Check): Promise<Figures> {
  if (cell.kind === "audio") return judgeSound(cell, path, original, await readSound(path, HEARD), check);
  const expectation = expected(cell);
  if (cell.kind === "image") {
    check(await readContainer(path)).toBe(cell.format);
    return judgeImage(cell, expectation, path, original, check);
  }
  return judgeVideo(cell, expectation, path, original, check);
}

const HEARD = { channels: 2, sample_rate: 8000 } as const;

const CODEC_NAMES = { h264: "h264", h265: "hevc", vp9: "vp9", av1: "av1" } as const;
const TAGS = { h264: "avc1", h265: "hvc1", av1: "av01", vp9: "vp09" } as const;

async function judgeVideo(
  cell: Cell,
  expectation: Expected,
  path: string,
  original: string,
  check: Check,
): Promise<Figures> {
  const { format, kind } = cell;
  const codec = cell.codec ?? "h264";
  const { picture, sound, streams } = await readFacts(path);
  check({ streams, sound }).toMatchObject({ streams: 2, sound: { codec: soundCodec(cell), channels: 2 } });
  check(picture).toMatchObject({
    ...{ codec: CODEC_NAMES[codec], ...expectation.box, pixel_format: "yuv420p", pixel_aspect: "1:1" },
    ...{ rotation: 0, interlaced: false },
  });
  if (kind === "video") check(await readContainer(path)).toBe(format);
  if (kind === "video" && format !== "webm") {
    check(picture?.tag).toBe(TAGS[codec]);
    const order = (await readBoxes(path)).filter((name) => name === "moov" || name === "mdat");
    check(order[0]).toBe("moov");
  }
  const times = picture?.times ?? [];
  check(times).toHaveLength(expectation.frames);
  const rate = cell.fps ?? SHOWN.fps;
  // WebM and Matroska times are whole milliseconds.
  const gaps = times.slice(1).map((time, index) => Math.abs(time - (times[index] ?? 0) - 1 / rate));
  check(Math.max(0, ...gaps)).toBeLessThanOrEqual(0.0011);
  check(Math.abs((picture?.duration ?? 0) - expectation.seconds)).toBeLessThanOrEqual(1 / rate + 0.002);
  const { like, shown, heard } = await judgeLikeness(cell, expectation, path, original, check);
  check(wrongPoints(shown, expectation.placing, COLOR_TOLERANCE)).toEqual([]);
  if (!heard) throw new Error("The output has no sound.");
  const figures = { ...like, ...(await judgeSound(cell, path, original, heard, check)) };
  if (typeof cell.rate !== "number") return figures;
  const bits = (await countPacketBytes(path, "v:0")) * 8;
  const share = bits / (picture?.duration ?? 0) / BITRATE.video;
  const alone =
    cell.width === null && cell.height === null && expectation.frames === BUSY_SECONDS * SHOWN.fps;
  if (alone) check(Math.abs(share - 1)).toBeLessThan(0.1);
  return { ...figures, share };
}

const IMAGE_CODECS = { jpeg: "mjpeg", png: "png", webp: "webp", gif: "gif", avif: "av1" } as const;

async function judgeImage(
  cell: Cell,
  expectation: Expected,
  path: string,
  original: string,
  check: Check,
): Promise<Figures> {
  const format = cell.format as ImageFormat;
  if (format === "webp" && isAnimation(cell)) {
    // Native ffmpeg cannot read an animated WebP.
    const animation = await readWebpAnimation(path);
    check(animation).toMatchObject(expectation.box);
    check(animation?.delays).toEqual(Array(expectation.frames).fill(200));
    return {};
  }
  const { picture } = await readFacts(path);
  check(picture).toMatchObject({ codec: IMAGE_CODECS[format], ...expectation.box, pixel_aspect: "1:1" });
  check(picture?.times).toHaveLength(expectation.frames);
  const { like, shown } = await judgeLikeness(cell, expectation, path, original, check);
  // Default bars are transparent where the format supports it.
  const clear = expectation.fit === "contain" && cell.background === null && FORMATS.image[format].alpha;
  const seen = clear && format !== "avif" ? onBlack(shown) : shown;
  check(wrongPoints(seen, expectation.placing, COLOR_TOLERANCE)).toEqual([]);
  return like;
}

// The pattern is blended in by a fifth, and low quality shifts colors; the quadrants' colors are much further apart.
const COLOR_TOLERANCE = 96;

function onBlack(picture: Picture): Picture {
  return {
    ...picture,
    at(x, y) {
      const [red, green, blue, alpha] = picture.at(x, y);
      return alpha < 128 ? [0, 0, 0, 255] : [red, green, blue, 255];
    },
  };
}

/**
 * Least mean SSIM by quality, a few hundredths below the score of correct outputs: video over all frames, images in RGB,
 * and images from a GIF, whose 256-color pattern is hard to encode.
 */
const LIKE_AT = {
  video: { very_low: 0.8, low: 0.87, medium: 0.91, high: 0.94, very_high: 0.96, bitrate: 0.75 },
  image: { very_low: 0.74, low: 0.74, medium: 0.79, high: 0.8, very_high: 0.9, bitrate: 0 },
  gif: { very_low: 0.58, low: 0.7, medium: 0.78, high: 0.8, very_high: 0.86, bitrate: 0 },
} as const;

async function judgeLikeness(
  cell: Cell,
  { filter }: Expected,
  path: string,
  original: string,
  check: Check,
): Promise<{ like: Figures; shown: Picture; heard: Sound | null }> {
  const { kind, from, rate } = cell;
  const pixels = kind === "image" ? "gbrp" : "yuv420p";
  const as = kind === "image" ? undefined : HEARD;
  const { mean, worst, picture, sound } = await measureAndRead(path, original, { filter, pixels }, as);
  const category = kind !== "image" ? "video" : from === "gif" ? "gif" : "image";
  const least = LIKE_AT[category][typeof rate === "number" ? "bitrate" : (rate ?? "medium")];
  check(mean).toBeGreaterThan(least);
  return { like: { ssim: mean, worst }, shown: picture, heard: sound };
}

function soundCodec({ kind, format, from }: Cell): string {
  // The lossless sources have 24 bits, which a WAV keeps.
  if (format === "wav" && from !== "h264") return "pcm_s24le";
  if (kind === "audio") return FORMATS.audio[format as AudioFormat].codec;
  return kind === "video" ? FORMATS.video[format as VideoFormat].audio : "aac";
}

// Seconds by which the decoded output may be late or too long: two frames of AAC, one frame of other codecs.
const SLACK = { mp3: 0.03, aac: 0.05, ogg: 0.03, opus: 0.025, wav: 0.0005, flac: 0.0005 } as const;
// Tolerated deviation from the bitrate, even in less than a second: Opus varies, and steady noise needs fewer bits.
const SOUND_SHARE = { mp3: 0.08, aac: 0.1, opus: 0.25, ogg: 0.1 } as const;

async function judgeSound(
  cell: Cell,
  path: string,
  original: string,
  got: Sound,
  check: Check,
): Promise<Figures> {
  const { kind, format, start, end, rate } = cell;
  const whole = isBusy(cell) ? BUSY_SECONDS : SHOWN.seconds;
  const span = `atrim=${start ?? 0}:${end ?? whole},asetpts=PTS-STARTPTS`;
  const wanted = await recallSound(original, { ...HEARD, after: ["-af", span] });
  const slack = kind === "audio" ? SLACK[format as AudioFormat] : 0.05;
  check(Math.abs(got.duration - wanted.duration)).toBeLessThanOrEqual(slack + 0.001);
  const figures: Figures = { longer: got.duration - wanted.duration };
  for (const echo of compareSound(got, wanted)) {
    Object.assign(figures, { correlation: echo.correlation, lag: echo.lag });
    check(echo.correlation).toBeGreaterThan(rate === "very_low" ? 0.85 : ALIKE_SOUND);
    check(Math.abs(echo.lag)).toBeLessThanOrEqual(kind === "audio" ? slack : 0.022);
    check(Math.abs(echo.gain)).toBeLessThan(rate === "very_low" ? 2 : 1);
  }
  if (kind !== "audio") return figures;
  check(await readContainer(path)).toBe(format);
  const { sound, picture, streams } = await readFacts(path);
  check({ streams, picture }).toEqual({ streams: 1, picture: null });
  check(sound).toMatchObject({ codec: soundCodec(cell), channels: 2 });
  const most = SOUND_SHARE[format as keyof typeof SOUND_SHARE];
  if (typeof rate !== "number" || most === undefined) return figures;
  const share = ((await countPacketBytes(path, "a:0")) * 8) / got.duration / rate;
  check(Math.abs(share - 1)).toBeLessThan(most);
  return { ...figures, share };
}

/** Plays a stream from its master playlist into a file beside `path`. */
export async function playStream(cell: Cell, url: string, path: string, check: Check): Promise<string> {
  const { variants } = parseMaster(await (await fetch(url)).text(), url);
  const { width, height } = expected(cell).box;
  check(variants).toMatchObject([
    { resolution: `${width}x${height}`, codecs: check.stringMatching(/^avc1\.[0-9a-fA-F]{6},mp4a\.40\.2$/) },
  ]);
  const file = `${path}.mkv`;
  await runNative(["-y", "-i", url, "-map", "0:v:0", "-map", "0:a:0", "-c", "copy", file]);
  return file;
}

export function mimeOf({ kind, format }: Cell): string {
  const formats: Readonly<Record<string, { mime: string }>> = FORMATS[kind];
  return formats[format]?.mime ?? "";
}
