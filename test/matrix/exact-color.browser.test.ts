import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { type JpegKind, plainJpeg } from "../fixtures/jpeg.ts";
import { keepClip, makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { farthestFrom, lastPixel, type Rgb } from "../judge/exact-color.ts";
import { TAGGED, taggedClip } from "../judge/tagged.ts";
import { type Encode, usePage, useService } from "./hosts.ts";

const LIMIT = { timeout: 240_000 };
const RED: Rgb = [200, 30, 30];
// Steps of 255 that rounding in YUV and lossy coding take.
const TOLERANCE = 6;

const png = (size: string, draw = "") =>
  makeClip("png", [
    ...["-f", "lavfi", "-i", `color=0xC81E1E:s=${size}:d=1,format=rgb24${draw}`, "-frames:v", "1"],
  ]);

// The last column and row, with half-resolution chroma that no other pixel shares.
const GREEN_EDGES =
  ",drawbox=x=100:w=1:h=75:color=0x1EC81E:t=fill,drawbox=y=74:w=101:h=1:color=0x1EC81E:t=fill";

const SIZES = ["101x75", "75x101", "641x427", "1x1", "1x50", "50x1"] as const;
/** The sizes to test for each format. A fault of half-resolution chroma may show in any one of them, a fault in RGB in every odd size. */
const SIZES_OF = {
  webp: SIZES,
  jpeg: SIZES,
  avif: SIZES,
  png: ["101x75", "1x50"],
  gif: ["101x75", "1x50"],
} as const;
type SizedFormat = keyof typeof SIZES_OF;
const SIZED = Object.keys(SIZES_OF) as SizedFormat[];

// Untagged video as HD and SD devices store it, in the matrix that players assume for its height.
const UNTAGGED = [
  { name: "1280x720", size: "1280x720", matrix: "bt709", to: { width: 480, height: 270 }, extension: "mp4" },
  { name: "720x1280", size: "720x1280", matrix: "bt709", to: { width: 270, height: 480 }, extension: "mp4" },
  { name: "720x576", size: "720x576", matrix: "bt601", to: { width: 1440, height: 1152 }, extension: "mp4" },
  {
    name: "MPEG-2 1280x720",
    size: "1280x720",
    matrix: "bt709",
    to: { width: 480, height: 270 },
    extension: "ts",
  },
] as const;
const TAGS = { bt709: "bt709", bt601: "smpte170m" } as const;

function untagged({ size, matrix, extension }: (typeof UNTAGGED)[number]): Promise<string> {
  const codec = extension === "ts" ? ["-c:v", "mpeg2video", "-q:v", "2"] : ["-c:v", "libx264", "-qp", "6"];
  const yuv = `scale=flags=accurate_rnd+full_chroma_int:out_color_matrix=${matrix}:out_range=tv,format=yuv420p`;
  const video = [
    "-f",
    "lavfi",
    "-i",
    `color=0xC81E1E:s=${size}:r=25:d=0.2,format=rgb24`,
    "-vf",
    yuv,
    ...codec,
  ];
  // A remux without the index's color box leaves only the stream, which has no tags.
  return makeClip(extension, [...video, "-movflags", "-write_colr"]);
}

const JPEGS: readonly { kind: JpegKind; samples: readonly number[]; color: Rgb }[] = [
  { kind: "cmyk", samples: [228, 28, 50, 240], color: [215, 26, 47] },
  { kind: "unmarked cmyk", samples: [228, 28, 50, 240], color: [215, 26, 47] },
  { kind: "ycck", samples: [192, 64, 64, 228], color: [137, 0, 158] },
  { kind: "marked rgb", samples: [200, 30, 40], color: [200, 30, 40] },
  { kind: "named rgb", samples: [200, 30, 40], color: [200, 30, 40] },
];

// Coefficients of RGB for pixels that share their chroma, and full range.
const CONTRADICTORY = [
  { name: "H.264 HD tagged GBR", size: "1280x720", matrix: "bt709", x264: "colormatrix=GBR" },
  { name: "H.264 SD tagged GBR", size: "320x240", matrix: "bt601", x264: "colormatrix=GBR" },
  { name: "H.265 HD tagged GBR", size: "1280x720", matrix: "bt709", x265: "colormatrix=gbr" },
  { name: "H.264 of full range", size: "1280x720", matrix: "bt709", x264: "fullrange=on:colormatrix=bt709" },
  { name: "H.265 of full range", size: "320x240", matrix: "bt601", x265: "range=full" },
] as const;

function contradictory(clip: (typeof CONTRADICTORY)[number]): Promise<string> {
  const range = clip.name.endsWith("range") ? "pc" : "tv";
  const yuv = `scale=flags=accurate_rnd+full_chroma_int:out_color_matrix=${clip.matrix}:out_range=${range},format=yuv420p`;
  const codec =
    "x264" in clip
      ? ["-c:v", "libx264", "-qp", "6", "-x264-params", clip.x264]
      : ["-c:v", "libx265", "-qp", "6", "-x265-params", `log-level=error:${clip.x265}`, "-tag:v", "hvc1"];
  return makeClip("mp4", [
    ...["-f", "lavfi", "-i", `color=0xC81E1E:s=${clip.size}:r=25:d=0.2,format=rgb24`, "-vf", yuv, ...codec],
    ...["-color_range", range, "-movflags", "-write_colr"],
  ]);
}

async function judgeContradictory(encode: Encode, clip: (typeof CONTRADICTORY)[number]) {
  await expectRed(encode, await contradictory(clip), clip.matrix, { width: 160 });
}

/** Asserts that a still and a video of an input are red, and that the video states its matrix. */
async function expectRed(encode: Encode, input: string, matrix: keyof typeof TAGS, size: object) {
  const still = await encode("image", input, { format: "png" });
  expect(await farthestFrom(still.path, RED), "still").toBeLessThanOrEqual(TOLERANCE);
  const video = await encode("video", input, { format: "mp4", quality: "very_high", ...size });
  expect(await tagOf(video.path)).toBe(TAGS[matrix]);
  expect(await farthestFrom(video.path, RED), "video").toBeLessThanOrEqual(TOLERANCE);
}

async function judgeJpegs(encode: Encode, formats: readonly string[]) {
  for (const { kind, samples, color } of JPEGS) {
    const input = await keepClip("jpg", `${kind} ${samples}`, (path) =>
      writeFile(path, plainJpeg(kind, samples)),
    );
    for (const format of formats) {
      const { path } = await encode("image", input, { format, quality: "high" });
      expect(await farthestFrom(path, color), `${kind} in ${format}`).toBeLessThanOrEqual(TOLERANCE);
    }
  }
}

async function judgeSizes(encode: Encode, format: SizedFormat) {
  for (const size of SIZES_OF[format]) {
    const { path } = await encode("image", await png(size), { format, quality: "high" });
    expect(await farthestFrom(path, RED), size).toBeLessThanOrEqual(TOLERANCE);
  }
  const edged = await encode("image", await png("101x75", GREEN_EDGES), { format });
  const [red, green, blue] = await lastPixel(edged.path);
  expect(green, "last pixel").toBeGreaterThan(Math.max(red, blue));
  const { path } = await encode("image", await png("202x150"), { format, quality: "high", width: 101 });
  expect(await farthestFrom(path, RED), "scaled to 101x75").toBeLessThanOrEqual(TOLERANCE);
}

async function judgeUntagged(encode: Encode, clip: (typeof UNTAGGED)[number]) {
  const input = await untagged(clip);
  expect(await tagOf(input)).toBe("unknown");
  await expectRed(encode, input, clip.matrix, clip.to);
}

async function judgeTagged(encode: Encode, clip: (typeof TAGGED)[number]) {
  const input = await taggedClip(clip);
  // The encoder makes WebP from the same pixels as JPEG.
  for (const format of ["jpeg", "png", "avif"]) {
    const { path } = await encode("image", input, { format, quality: "very_high" });
    expect(await farthestFrom(path, clip.color), format).toBeLessThanOrEqual(TOLERANCE);
  }
  for (const format of ["mp4", "webm"]) {
    const video = await encode("video", input, { format, quality: "very_high", width: 80 });
    const still = await encode("image", video.path, { format: "png" });
    expect(await farthestFrom(still.path, clip.color), format).toBeLessThanOrEqual(TOLERANCE);
  }
}

async function tagOf(path: string): Promise<string> {
  const { streams } = (await runFfprobe(path)) as { streams: { color_space?: string }[] };
  return streams[0]?.color_space ?? "unknown";
}

describe("by a service", () => {
  const { encode } = useService();

  test.concurrent.for(SIZED)("keeps the last row and column of odd sizes in %s", LIMIT, (format) =>
    judgeSizes(encode, format),
  );
  test.concurrent.for(CONTRADICTORY)("keeps the colors of $name", LIMIT, (clip) =>
    judgeContradictory(encode, clip),
  );
  // Each encoder makes one format.
  test.concurrent("reads RGB and CMYK of JPEGs with and without markers", LIMIT, () =>
    judgeJpegs(encode, ["webp", "avif"]),
  );
  test.concurrent.for(UNTAGGED)("takes untagged $name for $matrix", LIMIT, (clip) =>
    judgeUntagged(encode, clip),
  );
  test.concurrent.for(TAGGED)("shows video in $name in sRGB", LIMIT, (clip) => judgeTagged(encode, clip));
});

describe("by a page", () => {
  const { encode } = usePage("exact-color");

  test.for(SIZED)("keeps the last row and column of odd sizes in %s", LIMIT, (format) =>
    judgeSizes(encode, format),
  );
  test.for(CONTRADICTORY)("keeps the colors of $name", LIMIT, (clip) => judgeContradictory(encode, clip));
  // Each encoder makes one format.
  test("reads RGB and CMYK of JPEGs with and without markers", LIMIT, () =>
    judgeJpegs(encode, ["webp", "png"]),
  );
  test.for(UNTAGGED)("takes untagged $name for $matrix", LIMIT, (clip) => judgeUntagged(encode, clip));
  test.for(TAGGED)("shows video in $name in sRGB", LIMIT, (clip) => judgeTagged(encode, clip));
});
