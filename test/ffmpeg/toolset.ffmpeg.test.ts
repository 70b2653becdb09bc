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
  ["h264", videoSource(), "video", { quality: "low" }, null, null],
  ["vp9", videoSource(), "video", { format: "webm" }, null, null],
  ["h265", videoSource(), "video", { codec: "h265" }, { code: "output_codec", codec: "h265" }, null],
  ["av1", videoSource(), "video", { codec: "av1" }, { code: "output_codec", codec: "av1" }, null],
  ["a copy of a codec that cannot be encoded", av1, "video", { codec: "av1" }, null, null],
  [
    "a source codec that cannot be decoded",
    av1,
    "video",
    { codec: "h264" },
    { code: "input_codec", codec: "av1" },
    null,
  ],
  ["the audio of a source that cannot be decoded", av1, "audio", {}, null, null],
  ["any audio format", audioSource(), "audio", { format: "ogg" }, null, null],
  ["a picture of tiles", heic, "image", { format: "jpeg" }, NO_HEIC, null],
  ["an SVG", vector, "image", { format: "png" }, NO_SVG, NO_SVG],
  ["a picture of tiles in HDR", bright, "image", { format: "jpeg" }, NO_HEIC, { code: "tone_mapping" }],
  ["an animated WebP", moving, "video", {}, { code: "input_format", format: "animated webp" }, null],
  ["gif", imageSource(), "image", { format: "gif" }, null, null],
  ["avif", imageSource(), "image", { format: "avif" }, NO_AVIF, null],
  [
    "transparent avif",
    clear,
    "image",
    { format: "avif" },
    NO_AVIF,
    { code: "output_transparent", format: "avif" },
  ],
  [
    "h265 below its minimum size",
    videoSource(),
    "video",
    { codec: "h265", width: 40, height: 14 },
    { code: "output_codec", codec: "h265" },
    { code: "output_too_small", codec: "h265", min_side: 16 },
  ],
  ["hls", videoSource(), "adaptive_video", {}, null, null],
] as const)("refuses, or not, by toolset: %s", ([, source, kind, options, wasm, native]) => {
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
  ["bt2020nc", "smpte2084", null],
  ["bt2020-ncl", "hlg", null],
  [undefined, "arib-std-b67", null],
  ["ictcp", "smpte2084", { code: "tone_mapping" }],
] as const)(
  "the fast core maps HDR of matrix %s and transfer %s to SDR: %o",
  ([space, transfer, refusal]) => {
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
  ["h265", 8, null],
  ["h265", 10, null],
  ["h265", 12, { code: "input_depth", codec: "h265", bit_depth: 12 }],
  ["h264", 9, { code: "input_depth", codec: "h264", bit_depth: 9 }],
  ["vp9", 12, null],
] as const)("the fast core decodes %s of %d bits: %o", ([video, bit_depth, refusal]) => {
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
