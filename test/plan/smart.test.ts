import { expect, test } from "vitest";
import { createWebCodecsEncoder } from "../../src/encoders/webcodecs/webcodecs.ts";
import { spliceRequest } from "../../src/media/features/splice-plan.ts";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import {
  FAST_TOOLS,
  NATIVE_TOOLS,
  refuseTools,
  type Toolset,
  WASM_TOOLS,
} from "../../src/media/ffmpeg/toolset.ts";
import { forecast } from "../../src/media/forecast.ts";
import { encodedPart } from "../../src/media/plan.ts";
import { decide } from "../../src/media/route.ts";
import { describeDecision } from "../../src/media/words.ts";
import { parseTaskRequest } from "../../src/runs/requests.ts";
import { videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const film = videoSource({ pixel_format: "yuv420p" });
const parts = [
  { start: 5, end: 9 },
  { start: 1, end: 2 },
];
const splice = {
  parts: [{ start: 6, end: 8.5, pictures: 63 }, null],
  sets: { id: 1, profile: "high", level: "3.1" },
} as const;
const options = { mode: "smart", parts } as const;

test("before the packets are read, a smart cut counts as a copy", () => {
  const plan = createPlan(film, "video", options);
  expect(plan).toMatchObject({ video: { mode: "copy" }, audio: { mode: "copy" }, duration: 5, chunks: [] });
  expect(forecast("video", options, film)).toMatchObject({ copied: true, duration: 5 });
});

test("VP9 needs no parameter sets", () => {
  const source = videoSource({
    pixel_format: "yuv420p",
    codecs: { video: "vp9", audio: "opus" },
    format: "webm",
  });
  expect(createPlan(source, "video", options, { splice: { parts: splice.parts } })).toMatchObject({
    format: "webm",
    video: { mode: "encode", codec: "vp9", rate: { crf: 14 } },
    audio: { mode: "copy", codec: "opus" },
    chunks: [{}, { copy: { pictures: 63 } }, {}, {}],
  });
});

test.for([
  { codec: "h265", pixel_format: "yuv420p", depth: 8 },
  { codec: "h265", pixel_format: "yuv420p10le", depth: 10 },
  { codec: "av1", pixel_format: "yuv420p10le", depth: 10 },
] as const)(
  "pieces of $codec have the depth of the source ($depth bits)",
  ({ codec, pixel_format, depth }) => {
    const source = videoSource({ pixel_format, codecs: { video: codec, audio: "aac" } });
    const plan = createPlan(source, "video", options, { splice: { parts: splice.parts } });
    expect(plan).toMatchObject({ format: "mp4", video: { mode: "encode", codec, depth } });
    expect(plan.video).not.toHaveProperty("parameter_sets");
  },
);

test("a source that no encoder here can continue is encoded in the format's default codec", () => {
  const source = videoSource({ pixel_format: "yuv420p", codecs: { video: "h265", audio: "aac" } });
  const plan = createPlan(source, "video", options, { splice: { fault: "no_encoder" } });
  expect(plan).toMatchObject({ format: "mp4", video: { mode: "encode", codec: "h264" } });
});

test("whole groups are copied, and pieces around them are encoded", () => {
  const plan = createPlan(film, "video", options, { splice });
  expect(plan).toMatchObject({
    video: { mode: "encode", codec: "h264", fps: null, parameter_sets: splice.sets },
    audio: { mode: "copy" },
    duration: 5,
    chunks: [
      { index: 0, track: "video", start: 5, end: 6, at: 0 },
      { index: 1, track: "video", start: 6, end: 8.5, at: 1, copy: { pictures: 63 } },
      { index: 2, track: "video", start: 8.5, end: 9, at: 3.5 },
      { index: 3, track: "video", start: 1, end: 2, at: 4 },
    ],
  });
  expect(encodedPart(plan)).toMatchObject({
    duration: 2.5,
    chunks: [{ index: 0 }, { index: 2 }, { index: 3 }],
  });
});

test("x264 writes parameter sets with an id that the source does not use", () => {
  const plan = createPlan(film, "video", options, { splice });
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("no chunk");
  for (const tools of [WASM_TOOLS, NATIVE_TOOLS]) {
    const line = chunkArgs(plan, chunk, film, { input: "IN", output: "OUT" }, tools).join(" ");
    expect(line).toMatch(/-x264-params (\S+:)?sps-id=1 /);
    expect(line).toContain("-profile:v high -level:v 3.1 -crf:v 14");
  }
});

test("native ffmpeg continues H.264 in 10 bits; older native encoders and the wasm core refuse", () => {
  const source = videoSource({ pixel_format: "yuv420p10le" });
  const deep = { ...splice, sets: { id: 1, profile: "high10", level: "3.1" } } as const;
  const plan = encodedPart(createPlan(source, "video", options, { splice: deep }));
  const older: Toolset = { ...NATIVE_TOOLS, lacks: ["smart_depth"] };
  const refused = [NATIVE_TOOLS, older, WASM_TOOLS].map((tools) => refuseTools(plan, source, tools));
  expect(refused).toEqual([null, { code: "smart_depth" }, { code: "smart_depth" }]);
});

test("WebCodecs, which cannot choose the id of parameter sets, refuses", () => {
  const plan = encodedPart(createPlan(film, "video", options, { splice }));
  const refused = [NATIVE_TOOLS, WASM_TOOLS, FAST_TOOLS].map((tools) => refuseTools(plan, film, tools));
  expect(refused).toEqual([null, null, null]);
  expect(createWebCodecsEncoder({ sound: null }).refuse(plan, film)).toEqual({ code: "smart" });
  const offer = { encoder: "native", refusal: null, chunk_seconds: null, chunks: 1, at_once: 1, seconds: 1 };
  const decision = decide(createPlan(film, "video", options, { splice }), [offer]);
  expect(describeDecision(decision)).toBe("Copied, except for the pictures around the cuts.");
});

const SDR = { bit_depth: 8, primaries: "bt709", transfer: "bt709", space: "bt709", hdr: false };

test.for([
  { more: {}, facts: { codecs: { video: "vp8", audio: "opus" }, format: "webm" }, fault: "other_codec" },
  { more: { codec: "h265" }, facts: {}, fault: "new_codec" },
  { more: { format: "webm" }, facts: {}, fault: "output" },
  { more: {}, facts: { pixel_format: "yuv422p" }, fault: "pixels" },
  { more: {}, facts: { pixel_format: "yuv422p10le" }, fault: "pixels" },
  { more: {}, facts: { interlaced: true }, fault: "pixels" },
  { more: {}, facts: { sample_aspect_ratio: "4:3" }, fault: "shape" },
  { more: {}, facts: { color: { ...SDR, transfer: "arib-std-b67", hdr: true } }, fault: "colors" },
  {
    more: {},
    facts: {
      codecs: { video: "h265", audio: "aac" },
      pixel_format: "yuv420p10le",
      color: { ...SDR, transfer: "smpte2084", hdr: true },
    },
    fault: "colors",
  },
  { more: {}, facts: { color: { ...SDR, range: "full" } }, fault: "colors" },
  { more: {}, facts: { pixel_format: "yuvj420p" }, fault: "colors" },
  { more: {}, facts: { preroll: 0.3 }, fault: "hidden" },
  { more: {}, facts: { fragmented: true }, fault: "format" },
  { more: {}, facts: { format: "avi" }, fault: "format" },
] as const)(
  "a smart cut with $more of a source with $facts is encoded completely: $fault",
  ({ more, facts, fault }) => {
    const source = videoSource({ pixel_format: "yuv420p", ...facts });
    const request = { kind: "video", options: { ...options, ...more } } as const;
    const refusal = spliceRequest(source, request);
    expect(refusal).toEqual({ fault });
    const plan = createPlan(source, "video", request.options, { splice: { fault } });
    expect(plan).toMatchObject({ video: { mode: "encode" }, chunks: [{}, {}, { track: "audio" }] });
    expect(plan.video).not.toHaveProperty("parameter_sets");
  },
);

test("a smart cut refuses options that need an encode", () => {
  const request = (more: object) => () =>
    parseTaskRequest({
      input: "https://a.example/a.mp4",
      kind: "video",
      options: { mode: "smart", start: 1, ...more },
    });
  expect(request({ track: "en" })).not.toThrow();
  expect(request({ width: 80 })).toThrow(
    'options.width needs an encode, which options.mode "smart" rules out.',
  );
  expect(request({ concat: [{ url: "https://a.example/b.mp4" }] })).toThrow(
    'options.concat needs an encode, which options.mode "smart" rules out.',
  );
});
