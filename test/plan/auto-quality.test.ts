import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { type Planes, PNG_SIGNATURE, pngChunk, readPlanes, u32 } from "../../src/encoders/images/png.ts";
import { similarityOf } from "../../src/encoders/images/similarity.ts";
import { createWebCodecsEncoder } from "../../src/encoders/webcodecs/webcodecs.ts";
import { FAST_TOOLS, NATIVE_TOOLS, refuseTools } from "../../src/media/ffmpeg/toolset.ts";
import { bestRate, type MeasuredRate, nextRate } from "../../src/media/quality-search.ts";
import { planOfChunk } from "../../src/media/timeline.ts";
import { parseTaskRequest } from "../../src/runs/requests.ts";
import { placeSamples } from "../../src/runs/steps/measure-quality.ts";
import { concatBytes } from "../../src/util/bytes.ts";
import { argsOf } from "../ffmpeg/args-of.ts";
import { imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const WEBP = { lowest: 60, highest: 87 };
const AVIF = { lowest: 38, highest: 23 };

function search(range: typeof WEBP, scoreAt: (rate: number) => number | null) {
  const tried: MeasuredRate[] = [];
  for (let rate = nextRate(range, tried); rate !== null; rate = nextRate(range, tried))
    tried.push({ rate, score: scoreAt(rate) });
  return { ...bestRate(range, tried), trials: tried.length };
}

test.for([
  ["a picture that always looks the same", WEBP, () => 0.99, { rate: 60, score: 0.99 }],
  ["a picture that never looks the same", WEBP, () => 0.9, { rate: 87, score: 0.9 }],
  ["a gradual rise of the score", WEBP, (rate: number) => 1 - 0.06 * 0.97 ** (rate - 60), { rate: 83 }],
  ["a sudden rise of the score", WEBP, (rate: number) => (rate < 71 ? 0.9 : 0.98), { rate: 71, score: 0.98 }],
  [
    "a slow rise of the score",
    { lowest: 33, highest: 87 },
    (rate: number) => 0.968 + ((rate - 60) * 0.004) / 27,
    { rate: 74 },
  ],
  [
    "AVIF, whose rates fall with quality",
    AVIF,
    (rate: number) => 1 - 0.001 * rate,
    { rate: 30, score: 0.97 },
  ],
  ["a picture too small to measure", WEBP, () => null, { rate: 87, score: null, trials: 1 }],
] as const)(
  "the search with %s ends at the lowest sufficient rate, or else the highest",
  ([, range, scoreAt, expected]) => {
    const result = search(range, scoreAt);
    expect(result).toMatchObject(expected);
    expect(result.trials).toBeLessThanOrEqual(6);
  },
);

test("auto is planned with the best quality that it may choose, and refused for a format without adjustable quality", () => {
  const video = videoSource();
  expect(createPlan(imageSource(), "image", { format: "webp", quality: "auto" }).image?.quality).toBe(87);
  expect(createPlan(video, "animation", { format: "avif", quality: "auto" }).image?.quality).toBe(23);
  const refused = (format: string) =>
    `options.quality "auto" needs a format with adjustable quality: jpeg, webp or avif, not ${format}.`;
  expect(() => createPlan(imageSource(), "image", { quality: "auto" })).toThrow(refused("png"));
  expect(() => createPlan(video, "animation", { quality: "auto" })).toThrow(refused("gif"));
});

const FILM = videoSource({ duration: 600, fps: 25 });
const auto = createPlan(FILM, "video", { quality: "auto", width: 640 });

test("encoders without a constant quality refuse a video of automatic quality", () => {
  expect(auto.video).toMatchObject({ mode: "encode", measured: true, rate: { crf: 20 } });
  expect(refuseTools(auto, FILM, NATIVE_TOOLS)).toBeNull();
  expect(refuseTools(auto, FILM, FAST_TOOLS)).toBeNull();
  expect(refuseTools(auto, FILM, { ...NATIVE_TOOLS, lacks: ["auto_quality"] })).toEqual({
    code: "auto_quality",
  });
  expect(createWebCodecsEncoder({ sound: null }).refuse(auto, FILM)).toEqual({ code: "auto_quality" });
  // Chunks can be joined only if their parameter sets do not depend on their rates.
  expect(argsOf(FILM, "video", { quality: "auto", width: 640 })).toContain("-x264-params stitchable=1");
  expect(argsOf(FILM, "video", { quality: "high", width: 640 })).not.toContain("stitchable");
});

test("automatic quality of a video does not change its sound", () => {
  const { audio } = createPlan(FILM, "video", { width: 640 });
  expect(auto.audio).toEqual(audio);
});

test.for([
  { name: "bitrate", value: 1_000_000 },
  { name: "target_size", value: 1_000_000 },
  { name: "concat", value: [{ url: "https://a.example/b.mp4" }] },
] as const)("automatic quality of a video is refused together with $name", ({ name, value }) => {
  const request = { input: "https://a.example/a.mp4", kind: "video" };
  expect(() => parseTaskRequest({ ...request, options: { quality: "auto", [name]: value } })).toThrow(
    `options.${name} and options.quality "auto" cannot both be given.`,
  );
});

test("a chunk has the best rate of its samples or, without any, of the samples next to it", () => {
  if (auto.video?.mode !== "encode") throw new Error("The video is not encoded.");
  const rates = [
    { at: 10, crf: 27 },
    { at: 50, crf: 22 },
    { at: 130, crf: 25 },
  ];
  const plan = { ...auto, video: { ...auto.video, rates } };
  const rateOf = (start: number, end: number | null) => {
    const { video } = planOfChunk(plan, { index: 0, track: "video", start, end });
    return video && "rate" in video ? [video.rate, "rates" in video] : null;
  };
  expect(rateOf(0, 60)).toEqual([{ crf: 22 }, false]);
  expect(rateOf(60, 120)).toEqual([{ crf: 22 }, false]);
  expect(rateOf(120, null)).toEqual([{ crf: 25 }, false]);
  expect(rateOf(180, null)).toEqual([{ crf: 25 }, false]);
});

test("samples lie where the source has the most bytes, and a longer encode has more of them", () => {
  const at = (chunk_seconds: number | null, seconds: number | null, plan = auto) =>
    placeSamples(
      {
        plan,
        decision: { encoder: "native", chunk_seconds, seconds, reason: { code: "refused" }, refusals: [] },
      },
      FILM,
      [
        { at: 33.3, bytes: 9000, key: false },
        { at: 100, bytes: 90_000, key: true },
        { at: 590, bytes: 20_000, key: false },
      ],
    );
  expect(at(null, 5)).toEqual([{ start: 589.6, end: 590.4 }]);
  expect(at(null, 600)).toHaveLength(12);
  expect(at(60, 600)).toHaveLength(29);
  expect(at(null, 600)[0]).toEqual({ start: 32.8, end: 33.6 });
  const short = createPlan(FILM, "video", { quality: "auto", width: 640, start: 20, end: 20.4 });
  expect(at(null, 5, short)).toEqual([{ start: 20, end: 20.4 }]);
});

/** Builds a PNG from rows that begin with their filter. */
function png(
  type: { width: number; depth: number; color: number; more?: readonly Uint8Array[] },
  rows: number[][],
) {
  const { width, depth, color, more = [] } = type;
  const header = concatBytes([u32(width), u32(rows.length), Uint8Array.of(depth, color, 0, 0, 0)]);
  const data = new Uint8Array(deflateSync(Uint8Array.from(rows.flat())));
  return concatBytes([
    PNG_SIGNATURE,
    pngChunk("IHDR", header),
    ...more,
    pngChunk("IDAT", data),
    pngChunk("IEND"),
  ]);
}

test.for([
  [
    "gray",
    { width: 2, depth: 8, color: 0 },
    [
      [0, 10, 20],
      [2, 5, 5],
    ],
    [10, 20, 15, 25],
  ],
  ["deep gray", { width: 2, depth: 16, color: 0 }, [[1, 10, 0, 20, 0]], [10, 30]],
  ["color", { width: 2, depth: 8, color: 2 }, [[0, 255, 0, 0, 0, 0, 255]], [76, 29]],
  ["transparent over white", { width: 2, depth: 8, color: 6 }, [[0, 0, 0, 0, 0, 0, 0, 0, 255]], [255, 0]],
  [
    "palette of one bit",
    { width: 3, depth: 1, color: 3, more: [pngChunk("PLTE", Uint8Array.of(0, 0, 0, 90, 90, 90))] },
    [[0, 0b01100000]],
    [0, 90, 90],
  ],
  [
    "Paeth",
    { width: 2, depth: 8, color: 0 },
    [
      [3, 8, 8],
      [4, 1, 1],
    ],
    [8, 12, 9, 13],
  ],
] as const)("reads a PNG: %s", async ([, type, rows, luma]) => {
  const file = png(
    type,
    rows.map((row) => [...row]),
  );
  expect([...(await readPlanes(file, 255)).luma]).toEqual(luma);
});

function planes(luma: (x: number, y: number) => number): Planes {
  const side = 128;
  const values = Uint8Array.from({ length: side * side }, (_, at) => luma(at % side, Math.floor(at / side)));
  const gray = new Uint8Array((side / 2) ** 2).fill(128);
  return { width: side, height: side, luma: values, chroma: [gray, gray] };
}

test("the score is that of the worst quarter", () => {
  const wave = (x: number, y: number) => 128 + 60 * Math.sin(x / 3) * Math.cos(y / 5);
  const damage = (x: number, y: number) => (x < 64 && y < 64 ? 20 * ((x + y) % 2) : 0);
  const [plain, damaged] = [planes(wave), planes((x, y) => wave(x, y) + damage(x, y))];
  expect(similarityOf(plain, plain)).toBe(1);
  const score = similarityOf(plain, damaged) ?? 1;
  expect(score).toBeLessThan(0.99);
  expect(similarityOf({ ...plain, width: 4, height: 4 }, { ...plain, width: 4, height: 4 })).toBeNull();
});
