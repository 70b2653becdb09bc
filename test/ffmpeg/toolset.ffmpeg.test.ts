import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { FAST_TOOLS, NATIVE_TOOLS, refuseTools, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { SourceStream } from "../../src/media/source.ts";
import { audioSource, imageSource, videoSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";

const clear = imageSource({ has_alpha: true });
const NO_AVIF = { code: "output_format", format: "avif", animated: false };
const heic = imageSource({ format: "heic", codecs: { video: "h265", audio: null } });
const bright = { ...heic, color: { transfer: "smpte2084", hdr: true } };
const moving = imageSource({
  ...{ format: "webp", codecs: { video: "webp", audio: null } },
  ...{ animated: true, duration: 2, fps: 25 },
});
const vector = imageSource({ format: "svg", codecs: { video: "svg", audio: null }, has_alpha: true });
const NO_SVG = { code: "input_format", format: "svg" };
const NO_HEIC = { code: "input_format", format: "heic" };
const av1 = videoSource({ codecs: { video: "av1", audio: "aac" } });

test.for([
  {
    name: "h264",
    source: videoSource(),
    kind: "video",
    options: { quality: "low" },
    wasm: null,
    native: null,
  },
  {
    name: "vp9",
    source: videoSource(),
    kind: "video",
    options: { format: "webm" },
    wasm: null,
    native: null,
  },
  {
    name: "h265",
    source: videoSource(),
    kind: "video",
    options: { codec: "h265" },
    wasm: { code: "output_codec", codec: "h265" },
    native: null,
  },
  {
    name: "av1",
    source: videoSource(),
    kind: "video",
    options: { codec: "av1" },
    wasm: { code: "output_codec", codec: "av1" },
    native: null,
  },
  {
    name: "a copy of a codec that cannot be encoded",
    source: av1,
    kind: "video",
    options: { codec: "av1" },
    wasm: null,
    native: null,
  },
  {
    name: "a source codec that cannot be decoded",
    source: av1,
    kind: "video",
    options: { codec: "h264" },
    wasm: { code: "input_codec", codec: "av1" },
    native: null,
  },
  {
    name: "the audio of a source that cannot be decoded",
    source: av1,
    kind: "audio",
    options: {},
    wasm: null,
    native: null,
  },
  {
    name: "any audio format",
    source: audioSource(),
    kind: "audio",
    options: { format: "ogg" },
    wasm: null,
    native: null,
  },
  {
    name: "a picture of tiles",
    source: heic,
    kind: "image",
    options: { format: "jpeg" },
    wasm: NO_HEIC,
    native: null,
  },
  { name: "an SVG", source: vector, kind: "image", options: { format: "png" }, wasm: NO_SVG, native: NO_SVG },
  {
    name: "a picture of tiles in HDR",
    source: bright,
    kind: "image",
    options: { format: "jpeg" },
    wasm: NO_HEIC,
    native: { code: "tone_mapping" },
  },
  {
    name: "an animated WebP",
    source: moving,
    kind: "video",
    options: {},
    wasm: { code: "input_format", format: "animated webp" },
    native: null,
  },
  { name: "gif", source: imageSource(), kind: "image", options: { format: "gif" }, wasm: null, native: null },
  {
    name: "avif",
    source: imageSource(),
    kind: "image",
    options: { format: "avif" },
    wasm: NO_AVIF,
    native: null,
  },
  {
    name: "transparent avif",
    source: clear,
    kind: "image",
    options: { format: "avif" },
    wasm: NO_AVIF,
    native: { code: "output_transparent", format: "avif" },
  },
  {
    name: "h265 below its minimum size",
    source: videoSource(),
    kind: "video",
    options: { codec: "h265", width: 40, height: 14 },
    wasm: { code: "output_codec", codec: "h265" },
    native: { code: "output_too_small", codec: "h265", min_side: 16 },
  },
  { name: "hls", source: videoSource(), kind: "adaptive_video", options: {}, wasm: null, native: null },
] as const)("refuses, or not, by toolset: $name", ({ source, kind, options, wasm, native }) => {
  const plan = createPlan(source, kind as EncodeKind, options);
  expect([refuseTools(plan, source, WASM_TOOLS), refuseTools(plan, source, NATIVE_TOOLS)]).toEqual([
    wasm,
    native,
  ]);
});

test("the fast core alone does not draw subtitles", () => {
  const source = videoSource();
  const subtitles = [{ url: "https://example.com/a.srt", burn: true }];
  for (const kind of ["video", "adaptive_video"] as const) {
    const plan = createPlan(source, kind, { subtitles });
    expect([FAST_TOOLS, WASM_TOOLS, NATIVE_TOOLS].map((tools) => refuseTools(plan, source, tools))).toEqual([
      { code: "burn" },
      ...[null, null],
    ]);
  }
});

test.for([
  { space: "bt2020nc", transfer: "smpte2084", refusal: null },
  { space: "bt2020-ncl", transfer: "hlg", refusal: null },
  { space: undefined, transfer: "arib-std-b67", refusal: null },
  { space: "ictcp", transfer: "smpte2084", refusal: { code: "tone_mapping" } },
] as const)(
  "the fast core maps HDR of matrix $space and transfer $transfer to SDR: $refusal",
  ({ space, transfer, refusal }) => {
    const color = { hdr: true, primaries: "bt2020", transfer, ...(space && { space }) };
    const source = videoSource({ color });
    const plan = createPlan(source, "video", {});
    expect([refuseTools(plan, source, FAST_TOOLS), refuseTools(plan, source, WASM_TOOLS)]).toEqual([
      refusal,
      null,
    ]);
  },
);

test.for([
  { video: "h265", bit_depth: 8, refusal: null },
  { video: "h265", bit_depth: 10, refusal: null },
  { video: "h265", bit_depth: 12, refusal: { code: "input_depth", codec: "h265", bit_depth: 12 } },
  { video: "h264", bit_depth: 9, refusal: { code: "input_depth", codec: "h264", bit_depth: 9 } },
  { video: "vp9", bit_depth: 12, refusal: null },
] as const)("the fast core decodes $video of $bit_depth bits: $refusal", ({ video, bit_depth, refusal }) => {
  const source = videoSource({ codecs: { video, audio: "aac" }, color: { bit_depth, hdr: false } });
  const plan = createPlan(source, "video", { codec: "h264", width: 80 });
  expect([refuseTools(plan, source, FAST_TOOLS), refuseTools(plan, source, WASM_TOOLS)]).toEqual([
    refusal,
    null,
  ]);
});

test("the fast core leaves a stream to others when it cannot decode one of the sound tracks", () => {
  const streams: SourceStream[] = [
    { index: 0, kind: "video", codec: "h264" },
    { index: 1, kind: "audio", codec: "aac" },
    { index: 2, kind: "audio", codec: "dts", channels: 6, sample_rate: 48_000 },
  ];
  const source = videoSource({ streams });
  const refuse = (track?: number) =>
    refuseTools(createPlan(source, "adaptive_video", { track }), source, FAST_TOOLS);
  expect([refuse(), refuse(0), refuse(1)]).toEqual([
    { code: "input_codec", codec: "dts" },
    null,
    { code: "input_codec", codec: "dts" },
  ]);
});

test("the installed ffmpeg has every encoder in the toolsets", async () => {
  const { stdout } = await promisify(execFile)("ffmpeg", ["-hide_banner", "-encoders"]);
  const named = [NATIVE_TOOLS, WASM_TOOLS].flatMap(({ video, audio, image, animated }) =>
    [video, audio, image, animated].flatMap((tools) => Object.values(tools).map(({ encoder }) => encoder)),
  );
  expect(named.length).toBeGreaterThan(20);
  for (const encoder of named) expect(stdout).toMatch(new RegExp(`^ [VA]\\S+ ${encoder} `, "m"));
});
