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
  {
    name: "B-frames and 8x8 transforms",
    args: `${H264} -preset slow -bf 4 -x264-params 8x8dct=1:partitions=all`,
  },
  {
    name: "4x4 transforms without arithmetic coding",
    args: `${H264} -coder vlc -x264-params 8x8dct=0:partitions=all`,
  },
  { name: "coarse quantizers", args: `${H264} -crf 40` },
  { name: "fine quantizers", args: `${H264} -crf 4` },
  { name: "intra pictures", args: `${H264} -g 1` },
  {
    name: "weighted prediction",
    args: `${FADING} -c:v libx264 -pix_fmt yuv420p -x264-params weightp=2:weightb=1:bframes=3`,
  },
  { name: "fields", args: `${H264} -flags +ilme+ildct -x264-params tff=1` },
  { name: "fake fields", args: `${H264} -x264-params fake-interlaced=1` },
  { name: "several slices and references", args: `${H264} -x264-params slices=5:ref=8:b-pyramid=normal` },
  { name: "no deblocking", args: `${H264} -x264-params no-deblock=1` },
  { name: "strong deblocking", args: `${H264} -crf 35 -x264-params deblock=6,6` },
  { name: "chroma at half height", args: `${PICTURES} -c:v libx264 -pix_fmt yuv422p` },
  { name: "full chroma", args: `${PICTURES} -c:v libx264 -pix_fmt yuv444p` },
  { name: "10 bits", args: `${PICTURES} -c:v libx264 -pix_fmt yuv420p10le` },
  { name: "gray", args: `${PICTURES} -c:v libx264 -pix_fmt gray` },
  { name: "HEVC", args: hevc(PICTURES) },
  { name: "HEVC of 10 bits", args: hevc(PICTURES, "", "yuv420p10le") },
  { name: "HEVC with all partitions", args: hevc(PICTURES, "rect=1:amp=1:bframes=4:ref=5:b-pyramid=1") },
  {
    name: "HEVC of 10 bits with all partitions",
    args: hevc(PICTURES, "rect=1:amp=1:bframes=4", "yuv420p10le"),
  },
  { name: "HEVC of odd sizes", args: hevc(`${PICTURES},scale=106:74`, "ctu=64") },
  { name: "HEVC of odd sizes and 10 bits", args: hevc(`${PICTURES},scale=106:74`, "ctu=32", "yuv420p10le") },
  { name: "HEVC with small units", args: hevc(PICTURES, "ctu=16:min-cu-size=8:max-tu-size=16") },
  { name: "HEVC with weighted prediction", args: hevc(FADING, "weightp=1:weightb=1:bframes=3") },
  {
    name: "HEVC of 10 bits with weighted prediction",
    args: hevc(FADING, "weightp=1:weightb=1:bframes=3", "yuv420p10le"),
  },
  { name: "HEVC with coarse quantizers", args: hevc(PICTURES, "crf=42:deblock=6,6") },
  {
    name: "HEVC of 10 bits with coarse quantizers",
    args: hevc(PICTURES, "crf=42:deblock=6,6", "yuv420p10le"),
  },
  {
    name: "HEVC with fine quantizers and skipped transforms",
    args: hevc(PICTURES, "crf=3:tskip=1:scaling-list=default"),
  },
  { name: "lossless HEVC", args: hevc(PICTURES, "lossless=1") },
  {
    name: "HEVC of 10 bits that is lossless in parts",
    args: hevc(PICTURES, "cu-lossless=1:crf=8", "yuv420p10le"),
  },
  { name: "HEVC with intra pictures", args: hevc(PICTURES, "keyint=1") },
  {
    name: "HEVC of 10 bits with constrained intra blocks",
    args: hevc(PICTURES, "constrained-intra=1", "yuv420p10le"),
  },
  { name: "HEVC without filters", args: hevc(PICTURES, "no-deblock=1:no-sao=1") },
  { name: "HEVC with slices and wavefronts", args: hevc(PICTURES, "slices=2:wpp=1") },
  { name: "HEVC with chroma at half height", args: hevc(PICTURES, "", "yuv422p10le") },
  { name: "HEVC with full chroma", args: hevc(PICTURES, "", "yuv444p") },
  { name: "gray HEVC", args: hevc(PICTURES, "", "gray") },
] as const satisfies { name: string; args: string }[];

// Lossless, so that two outputs are equal only if all pictures are; x264 is built for 8 bits.
const RUN =
  "-v quiet -i /in/input -an -vf format=yuv420p|yuv422p|yuv444p|gray -c:v libx264 -preset ultrafast -qp 0 /out/output.mp4".split(
    " ",
  );
// Whole, and damaged in each way.
const SEEDS = [0, 1, 2, 3, 4, 5];
const MEMORY = 512 * 2 ** 20;

describe.skipIf(!CORE)("the decoders' kernels", () => {
  test.for(SOURCES)("decode the pictures of scalar code from $name", async ({ args }, { expect }) => {
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
