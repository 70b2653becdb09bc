import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import sharp from "sharp";
import { type Facts, type PictureFacts, readFacts } from "../judge/facts.ts";
import { runNative } from "../judge/native.ts";
import { parsePam } from "../judge/picture.ts";
import { compareSound, levelOf, readSound } from "../judge/sound.ts";
import type { Attempt, Conversion } from "./hosts.ts";

const run = promisify(execFile);

/** A successful attempt. */
type Success = Extract<Attempt, { output: string }>;

/** Whether native ffmpeg decodes a file without errors, with errors, or not at all. */
export type Decodes = "clean" | "damaged" | "no";

/** Decodes the start of a file with native ffmpeg. */
export async function decode(path: string): Promise<Decodes> {
  const args = ["-v", "error", "-nostdin", "-t", "3", "-i", path, "-map", "0:V?", "-map", "0:a?"];
  try {
    const { stderr } = await run("ffmpeg", [...args, "-f", "null", "-"], { timeout: 30_000 });
    return stderr === "" ? "clean" : "damaged";
  } catch {
    return "no";
  }
}

/** Judges an output against its source with native ffprobe, ffmpeg and libvips; returns its faults. */
export async function judge(path: string, attempt: Success): Promise<string[]> {
  const kind = attempt.conversion?.kind;
  if (kind === "image") return judgePicture(path, attempt);
  if (kind === "audio") return judgeAudio(path, attempt);
  return judgeMoving(path, attempt);
}

// Maximum differences, of 255, between means over parts of the picture. A GIF has only 256 colors.
const FAR = {
  // No two programs draw an SVG alike.
  svg: { worst: 255, mean: 12 },
  image: { worst: 40, mean: 4 },
  video: { worst: 70, mean: 9 },
  animation: { worst: 80, mean: 12 },
};

/** A decoded picture, upright, in RGBA. */
interface Decoded {
  width: number;
  height: number;
  pixels: Buffer;
}

async function judgePicture(path: string, { source, output }: Success): Promise<string[]> {
  // Tone mapping has no single right result.
  if (source?.color?.hdr) return [];
  const kind = source?.format === "svg" ? "svg" : "image";
  const actual = await decodeWithSharp(output);
  const decodeFrame = () => decodePicture(path, "null", `0:V:${source?.video_track ?? 0}`);
  const { pixel_format = "", color } = source ?? {};
  const isGrayHeif = HEIF.test(path) && pixel_format.startsWith("gray") && color?.range === "limited";
  // Each judge has gaps, such as color profiles or orientation.
  let wrong: string[] | null = null;
  // ffmpeg reads JPEG in a TIFF, among others, as one color without an error.
  const judges = TIFF.test(path)
    ? [decodeWithSharp]
    : [decodeWithSharp, decodeFrame, decodeHeif, decodeGamma];
  for (const pictures of judges) {
    for (const expected of [await pictures(path).catch(() => [])].flat()) {
      const differs = await differences(actual, isGrayHeif ? stretched(expected) : expected, kind);
      if (differs.length === 0) return [];
      wrong ??= differs;
    }
  }
  return wrong ?? [];
}

const TIFF = /\.tiff?$/i;
const HEIF = /\.(hei[cf]|hif|avifs?)$/i;

// libheif, which sharp uses too, leaves black and white in limited range.
function stretched({ pixels, ...size }: Decoded): Decoded {
  const full = (value: number, at: number) => (at % 4 === 3 ? value : ((value - 16) * 255) / 219);
  return { ...size, pixels: Buffer.from(Uint8ClampedArray.from(pixels, full)) };
}

// ffmpeg and libvips ignore gAMA (W3C PNG, 11.3.2.1), which browsers follow.
async function decodeGamma(path: string): Promise<Decoded[]> {
  if (!/\.png$/i.test(path)) return [];
  const file = await readFile(path);
  const at = file.indexOf("gAMA");
  if (at < 0 || file.includes("iCCP") || file.includes("sRGB")) return [];
  const gamma = file.readUInt32BE(at + 4) / 100_000;
  const srgb = (light: number) => (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);
  const { pixels, ...size } = await decodeWithSharp(path);
  const display = (value: number, index: number) =>
    index % 4 === 3 ? value : 255 * srgb((value / 255) ** (1 / gamma));
  return [{ ...size, pixels: Buffer.from(Uint8ClampedArray.from(pixels, display)) }];
}

const GRID = 16;

async function differences(actual: Decoded, expected: Decoded, kind: keyof typeof FAR): Promise<string[]> {
  const wrong: string[] = [];
  const ratio = (actual.width * expected.height) / (actual.height * expected.width);
  // Sizes are rounded to whole or even pixels.
  const slack = 0.01 + 2 / Math.min(actual.width, actual.height, expected.width, expected.height);
  if (Math.abs(Math.log(ratio)) > slack)
    wrong.push(`shape ${actual.width}x${actual.height} of ${expected.width}x${expected.height}`);
  const parts = (one: number, other: number) => Math.min(GRID, Math.ceil(Math.min(one, other) / 4));
  const grid = [parts(actual.width, expected.width), parts(actual.height, expected.height)] as const;
  const [is, was] = [await sample(actual, grid), await sample(expected, grid)];
  const gaps = is.map((value, at) => Math.abs(value - (was[at] ?? 0)));
  const [worst, mean] = [Math.max(...gaps), gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length];
  if (worst > FAR[kind].worst || mean > FAR[kind].mean)
    wrong.push(`colors off by ${Math.round(worst)}, on average ${mean.toFixed(1)}`);
  return wrong;
}

// Premultiplied red, green and blue, and alpha.
async function sample({ width, height, pixels }: Decoded, grid: readonly [number, number]) {
  const small = sharp(pixels, { raw: { width, height, channels: 4 } });
  const rgba = await small
    .resize(...grid, { fit: "fill", kernel: "linear" })
    .raw()
    .toBuffer();
  return [...rgba].map((value, at) =>
    at % 4 === 3 ? value : (value * (rgba[at - (at % 4) + 3] ?? 0)) / 255,
  );
}

async function decodeWithSharp(path: string): Promise<Decoded> {
  const image = sharp(path, { limitInputPixels: 1e8, failOn: "none" }).autoOrient().toColourspace("srgb");
  // sharp would convert a 16-bit picture without a profile as if it were in Display P3.
  const { icc } = await image.metadata();
  const { data, info } = await (icc ? image.withIccProfile("srgb") : image)
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, pixels: data };
}

// All pictures of a file, because libheif does not tell which one is primary.
async function decodeHeif(path: string): Promise<Decoded[]> {
  if (!HEIF.test(path)) return [];
  const folder = await mkdtemp(join(tmpdir(), "framewright-heif-"));
  try {
    await run("heif-convert", ["--quiet", path, join(folder, "picture.png")], { timeout: 20_000 });
    return await Promise.all((await readdir(folder)).map((name) => decodeWithSharp(join(folder, name))));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function decodePicture(path: string, filter = "null", track = "0:V:0"): Promise<Decoded> {
  const { output } = await runNative([
    ...["-i", path, "-map", track, "-an", "-vf", `${filter},scale=iw*sar:ih,format=rgba`],
    ...["-frames:v", "1", "-f", "image2pipe", "-c:v", "pam", "-"],
  ]);
  const { width, height } = parsePam(output);
  return { width, height, pixels: output.subarray(output.indexOf("ENDHDR\n") + 7) };
}

async function judgeMoving(path: string, { source, conversion, output, made }: Success): Promise<string[]> {
  const { kind, options } = conversion as Conversion;
  const wrong: string[] = [];
  const tracks = { video: source?.video_track, audio: source?.sound_track };
  const [actual, expected] = [await readFacts(output), await readFacts(path, tracks, spanOf(options))];
  const end = options.end ?? Number.POSITIVE_INFINITY;
  if (!actual.picture || !expected.picture) return expected.picture ? ["no pictures"] : [];
  // Pictures before 0, which an edit list cuts, are decoded but not shown.
  const visible = expected.picture.times.filter((time) => !(time < -1e-3));
  const first = visible[0] ?? 0;
  const times = visible.filter((time) => !(time - first >= end - 1e-3));
  const [pictures, shown] = [times.length, actual.picture.times.length];
  if (Math.abs(pictures - shown) > 1) wrong.push(`${shown} pictures of ${pictures}`);
  const cut = first - (expected.picture.times[0] ?? 0);
  const length = Math.min(expected.picture.duration - (cut || 0), end);
  if (pictures > 1 && Math.abs(actual.picture.duration - length) > 0.1 + 0.02 * length)
    wrong.push(`pictures last ${seconds(actual.picture.duration)} of ${seconds(length)}`);
  if (
    expected.sound &&
    !actual.sound &&
    kind === "video" &&
    !made.dropped?.some((each) => each.kind === "audio")
  )
    wrong.push("no sound");
  const dynamic = ["smpte2084", "arib-std-b67"].includes(expected.picture.transfer ?? "");
  // Only ffmpeg omits the transparency track.
  const isClearAvif = source?.format === "avif" && expected.streams > 1;
  for (const at of dynamic || isClearAvif || shown === 0 ? [] : [0, Math.floor(shown / 2)]) {
    const number = `select=gte(n\\,${at})`;
    const frames = await Promise.all([
      decodePicture(output, number),
      decodePicture(
        path,
        `select=not(lt(t\\,-0.001)),${number},${matrixOf(expected.picture)}`,
        `0:V:${tracks.video ?? 0}`,
      ),
    ]);
    const differs = await differences(...frames, kind as "video");
    wrong.push(...differs.map((each) => `picture ${at}: ${each}`));
  }
  return [...wrong, ...(kind === "video" ? judgeTags(actual, expected) : [])];
}

// Players take untagged pictures of 720 lines or more as BT.709, unlike ffmpeg.
const matrixOf = ({ matrix = "unknown", height, pixel_format }: PictureFacts) =>
  matrix === "unknown" && height >= 720 && pixel_format.startsWith("yuv")
    ? "scale=in_color_matrix=bt709"
    : "null";

const seconds = (value: number) => `${value.toFixed(2)} s`;
const spanOf = ({ end }: Conversion["options"]) => (end === undefined ? undefined : end + 1);

async function judgeAudio(path: string, { source, conversion, output, made }: Success): Promise<string[]> {
  const end = conversion?.options.end;
  const track = source?.sound_track ?? 0;
  const [actual, expected] = [await readFacts(output), await readFacts(path, { audio: track }, 0.1)];
  if (!actual.sound || !expected.sound) return expected.sound ? ["no sound"] : [];
  const channels = Math.min(2, expected.sound.channels);
  const options = { channels: Math.max(1, channels), sample_rate: 24_000 };
  const before = ["-map", `0:a:${track}`, ...(end === undefined ? [] : ["-t", `${end}`])];
  const [heard, original] = [
    await readSound(output, options),
    await readSound(path, { ...options, after: before }),
  ];
  const wrong: string[] = [];
  const mixed = made.dropped?.some((each) => each.kind === "channels") ?? false;
  if (actual.sound.channels !== expected.sound.channels && !mixed)
    wrong.push(`${actual.sound.channels} channels of ${expected.sound.channels}`);
  if (Math.abs(heard.duration - original.duration) > 0.06)
    wrong.push(`sound lasts ${seconds(heard.duration)} of ${seconds(original.duration)}`);
  for (const [index, echo] of compareSound(heard, original).entries()) {
    if (levelOf(original.channels[index] ?? new Float32Array()) < -70) continue;
    if (echo.correlation < 0.95) wrong.push(`sound correlates by ${echo.correlation.toFixed(2)}`);
    else if (Math.abs(echo.gain) > 0.5 && !mixed) wrong.push(`sound louder by ${echo.gain.toFixed(1)} dB`);
    else if (Math.abs(echo.lag) > 0.03) wrong.push(`sound late by ${seconds(echo.lag)}`);
  }
  return [
    ...wrong,
    ...judgeTags(
      actual,
      expected,
      made.dropped?.some((each) => each.kind === "tags"),
    ),
  ];
}

const TAGS = ["title", "artist", "album", "genre", "track", "date", "album_artist", "composer"] as const;

function judgeTags(actual: Facts, expected: Facts, announced = false): string[] {
  if (announced) return [];
  return TAGS.flatMap((name) => {
    const [is, was] = [actual.tags[name]?.trim(), expected.tags[name]?.trim()];
    // ffmpeg reads only the first of several values, and no totals in Vorbis comments.
    return !was || is === was || is?.split(/[;/]/).includes(was)
      ? []
      : [`tag ${name}: ${JSON.stringify(is ?? null)} of ${JSON.stringify(was)}`];
  });
}
