import { describe, test } from "vitest";
import { findBuilt } from "../../../core/cache.ts";
import { makeClip } from "../../fixtures/make-clip.ts";
import type { DamageEnd } from "./damage-thread.ts";
import { CORE, runDamaged } from "./run-fast.ts";

// Turned and noisy, so that blocks move by all fractions of a pixel and leave large residuals.
const PICTURES =
  "-f lavfi -i testsrc2=size=212x148:rate=25:duration=0.6 -vf rotate=0.4*t,noise=alls=12:allf=t";
const FADING = `${PICTURES},fade=out:0:15`;
const H264 = `${PICTURES} -c:v libx264 -crf 20 -pix_fmt yuv420p`;

function hevc(pictures: string, params = "", format = "yuv420p"): string {
  const all = ["log-level=error", "pools=1", "crf=22", params].filter(Boolean).join(":");
  return `${pictures} -c:v libx265 -preset medium -pix_fmt ${format} -tag:v hvc1 -x265-params ${all}`;
}

// Each takes other ways through the decoder.
const SOURCES = [
  ["B-frames and 8x8 transforms", `${H264} -preset slow -bf 4 -x264-params 8x8dct=1:partitions=all`],
  ["4x4 transforms without arithmetic coding", `${H264} -coder vlc -x264-params 8x8dct=0:partitions=all`],
  ["coarse quantizers", `${H264} -crf 40`],
  ["fine quantizers", `${H264} -crf 4`],
  ["intra pictures", `${H264} -g 1`],
  [
    "weighted prediction",
    `${FADING} -c:v libx264 -pix_fmt yuv420p -x264-params weightp=2:weightb=1:bframes=3`,
  ],
  ["fields", `${H264} -flags +ilme+ildct -x264-params tff=1`],
  ["fake fields", `${H264} -x264-params fake-interlaced=1`],
  ["several slices and references", `${H264} -x264-params slices=5:ref=8:b-pyramid=normal`],
  ["no deblocking", `${H264} -x264-params no-deblock=1`],
  ["strong deblocking", `${H264} -crf 35 -x264-params deblock=6,6`],
  ["chroma at half height", `${PICTURES} -c:v libx264 -pix_fmt yuv422p`],
  ["full chroma", `${PICTURES} -c:v libx264 -pix_fmt yuv444p`],
  ["10 bits", `${PICTURES} -c:v libx264 -pix_fmt yuv420p10le`],
  ["gray", `${PICTURES} -c:v libx264 -pix_fmt gray`],
  ["HEVC", hevc(PICTURES)],
  ["HEVC of 10 bits", hevc(PICTURES, "", "yuv420p10le")],
  ["HEVC with all partitions", hevc(PICTURES, "rect=1:amp=1:bframes=4:ref=5:b-pyramid=1")],
  ["HEVC of 10 bits with all partitions", hevc(PICTURES, "rect=1:amp=1:bframes=4", "yuv420p10le")],
  ["HEVC of odd sizes", hevc(`${PICTURES},scale=106:74`, "ctu=64")],
  ["HEVC of odd sizes and 10 bits", hevc(`${PICTURES},scale=106:74`, "ctu=32", "yuv420p10le")],
  ["HEVC with small units", hevc(PICTURES, "ctu=16:min-cu-size=8:max-tu-size=16")],
  ["HEVC with weighted prediction", hevc(FADING, "weightp=1:weightb=1:bframes=3")],
  ["HEVC of 10 bits with weighted prediction", hevc(FADING, "weightp=1:weightb=1:bframes=3", "yuv420p10le")],
  ["HEVC with coarse quantizers", hevc(PICTURES, "crf=42:deblock=6,6")],
  ["HEVC of 10 bits with coarse quantizers", hevc(PICTURES, "crf=42:deblock=6,6", "yuv420p10le")],
  ["HEVC with fine quantizers and skipped transforms", hevc(PICTURES, "crf=3:tskip=1:scaling-list=default")],
  ["lossless HEVC", hevc(PICTURES, "lossless=1")],
  ["HEVC of 10 bits that is lossless in parts", hevc(PICTURES, "cu-lossless=1:crf=8", "yuv420p10le")],
  ["HEVC with intra pictures", hevc(PICTURES, "keyint=1")],
  ["HEVC of 10 bits with constrained intra blocks", hevc(PICTURES, "constrained-intra=1", "yuv420p10le")],
  ["HEVC without filters", hevc(PICTURES, "no-deblock=1:no-sao=1")],
  ["HEVC with slices and wavefronts", hevc(PICTURES, "slices=2:wpp=1")],
  ["HEVC with chroma at half height", hevc(PICTURES, "", "yuv422p10le")],
  ["HEVC with full chroma", hevc(PICTURES, "", "yuv444p")],
  ["gray HEVC", hevc(PICTURES, "", "gray")],
] as const satisfies [string, string][];

// Lossless, so that two outputs are equal only if all pictures are; x264 is built for 8 bits.
const RUN =
  "-v quiet -i /in/input -an -vf format=yuv420p|yuv422p|yuv444p|gray -c:v libx264 -preset ultrafast -qp 0 /out/output.mp4".split(
    " ",
  );
// Whole, and damaged in each way.
const SEEDS = [0, 1, 2, 3, 4, 5];
const MEMORY = 512 * 2 ** 20;

describe.skipIf(!CORE)("the decoders' kernels", () => {
  test.for(SOURCES)("decode the pictures of scalar code from %s", async ([, args], { expect }) => {
    const input = await makeClip("mp4", args.split(" "));
    const task = { input, seeds: SEEDS, args: RUN, memory: MEMORY };
    const ours = await runDamaged(task);
    const scalar = await runDamaged({ ...task, core: findBuilt("scalar") ?? "" });
    const outcome = ({ seed, end, sha256 }: DamageEnd) => ({ seed, end, sha256 });
    expect(ours.map(outcome)).toEqual(scalar.map(outcome));
    expect(ours.map(({ seed }) => seed)).toEqual(SEEDS);
    expect(ours[0]?.end).toBe(0);
  });
});
