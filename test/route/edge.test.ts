import { expect, test } from "vitest";
import { LIGHT_LIMITS, lightChunkSeconds, refuseLight } from "../../src/encoders/light/light-estimate.ts";
import { NATIVE_TOOLS, refuseTools } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import { cutPlan, type Plan } from "../../src/media/index.ts";
import type { Decision, RefusalReason } from "../../src/media/refusal.ts";
import { decide, type NativeEncoders, nativeOffer, type Offer } from "../../src/media/route.ts";
import type { Source } from "../../src/media/source.ts";
import { describeDecision } from "../../src/media/words.ts";
import { imageSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { MB, sound, video } from "./sources.ts";

function plan(source: Source, kind: EncodeKind, options: Record<string, unknown>): Plan {
  return createPlan(source, kind, options, { chunk_seconds: Number.POSITIVE_INFINITY });
}

interface Edge {
  light?: Pick<Offer, "refusal" | "seconds">;
  native?: Partial<NativeEncoders>;
}

// An edge with four two-core containers.
function decideAtEdge(
  source: Source,
  kind: EncodeKind,
  options: Record<string, unknown>,
  { light, native }: Edge = {},
): Decision {
  const whole = plan(source, kind, options);
  const chunk_seconds = kind === "video" ? lightChunkSeconds(whole, source, LIGHT_LIMITS) : null;
  const cut = chunk_seconds === null ? whole : cutPlan(whole, { chunk_seconds });
  const chunks = cut.chunks.filter(({ track }) => track !== "audio").length;
  const refusal = refuseTools(whole, source, NATIVE_TOOLS);
  return decide(whole, [
    {
      ...{ encoder: "light", refusal: refuseLight(cut, source, LIGHT_LIMITS), seconds: 1 },
      ...{ chunk_seconds, chunks, at_once: 1, ...light },
    },
    nativeOffer(whole, source, { refusal, instances: 4, cores: 2, max_in_flight: 8, ...native }),
  ]);
}

const FILM = video(1920, 1080, 7200);
const after = (seconds: number) => ({ light: { refusal: null, seconds } });
function row(
  name: string,
  source: Source,
  kind: EncodeKind,
  options: Record<string, unknown>,
  edge: Edge,
  expected: Partial<Decision>,
  sentence: string,
) {
  return { name, decision: () => decideAtEdge(source, kind, options, edge), expected, sentence };
}

const CASES = [
  row(
    "a thumbnail of a photo",
    imageSource(),
    "image",
    { width: 100, format: "webp" },
    after(0.4),
    { encoder: "light", chunk_seconds: null, reason: { code: "preferred", seconds: 0.4 }, refusals: [] },
    "About 1 s of work.",
  ),
  row(
    "a thumbnail of a film",
    FILM,
    "image",
    { start: 3, width: 320 },
    {},
    { encoder: "light", chunk_seconds: null, reason: { code: "preferred", seconds: 1 }, refusals: [] },
    "About 1 s of work.",
  ),
  row(
    "a clip of 10 s at 360p",
    video(640, 360, 10),
    "video",
    { height: 240 },
    after(3.2),
    { encoder: "light", chunk_seconds: 24, reason: { code: "preferred", seconds: 3.2 } },
    "About 3 s of work.",
  ),
  row(
    "half a minute, which the native encoder finishes sooner",
    video(1280, 720, 30),
    "video",
    { height: 480 },
    after(39),
    { encoder: "native", chunk_seconds: null },
    "Faster here: 15 s, not 39 s.",
  ),
  row(
    "a clip not worth starting a container",
    video(640, 360, 60),
    "video",
    { height: 240 },
    after(9),
    { encoder: "light" },
    "About 9 s of work.",
  ),
  row(
    "h265",
    video(1280, 720, 10),
    "video",
    { codec: "h265" },
    {},
    {
      encoder: "native",
      chunk_seconds: null,
      reason: { code: "refused" },
      refusals: [{ encoder: "light", code: "output_codec", codec: "h265" }],
    },
    "Not on the light encoder: the wasm core has no H.265 encoder.",
  ),
  row(
    "avif",
    imageSource(),
    "image",
    { format: "avif" },
    {},
    {
      encoder: "native",
      chunk_seconds: null,
      refusals: [{ encoder: "light", code: "output_format", format: "avif", animated: false }],
    },
    "Not on the light encoder: the wasm core has no avif encoder.",
  ),
  row(
    "a small copy",
    video(640, 360, 10),
    "video",
    {},
    after(0.2),
    { encoder: "light", reason: { code: "copied" } },
    "Copied without re-encoding.",
  ),
  row(
    "a copy of 3 GB",
    video(1920, 1080, 3600, { filesize: 3000 * MB }),
    "video",
    {},
    {},
    { encoder: "native", chunk_seconds: null, reason: { code: "copied" } },
    "Copied without re-encoding.",
  ),
  row(
    "an hour of audio",
    sound(3600, 640 * MB),
    "audio",
    { format: "mp3" },
    {},
    { encoder: "native", chunk_seconds: null },
    "Not on the light encoder: 611 MB of the input would have to be in memory at once, and 40 MB is available.",
  ),
  row(
    "a clip not worth a second encoder",
    video(1280, 720, 45),
    "video",
    { height: 360 },
    after(60),
    { encoder: "native", chunk_seconds: null },
    "Faster here: 15 s, not 60 s.",
  ),
  row(
    "a film of two hours",
    FILM,
    "video",
    { height: 720 },
    {},
    { encoder: "native", chunk_seconds: 120, reason: { code: "chunked", chunks: 60, at_once: 4 } },
    "Encoded in 60 parts, 4 at once.",
  ),
  row(
    "ten minutes of adaptive 4K",
    video(3840, 2160, 600),
    "adaptive_video",
    {},
    {},
    { encoder: "native", chunk_seconds: 30, reason: { code: "chunked", chunks: 20, at_once: 4 } },
    "Encoded in 20 parts, 4 at once.",
  ),
];

test.for(CASES)("$name", ({ decision, expected, sentence }) => {
  const decided = decision();
  expect(decided).toMatchObject(expected);
  expect(describeDecision(decided)).toBe(sentence);
});

const NONE: RefusalReason = { code: "not_configured" };

test("without a native encoder the light one takes work however long it lasts", () => {
  const native = { refusal: NONE, instances: 0, cores: 0 };
  const decision = decideAtEdge(video(1280, 720, 30), "video", { height: 480 }, { native, ...after(39) });
  expect(decision).toMatchObject({ encoder: "light", chunk_seconds: 6, refusals: [] });
  expect(describeDecision(decision)).toBe("Encoded in 5 parts; a reload repeats at most one.");
});

test("throws every encoder's refusal when none can do the work", () => {
  const native = { refusal: NONE, instances: 0, cores: 0 };
  expect(() => decideAtEdge(video(1280, 720, 10), "video", { codec: "h265" }, { native })).toThrow(
    expect.objectContaining({
      ...{ kind: "encoder_unavailable", retryable: false },
      refusals: [
        { encoder: "light", code: "output_codec", codec: "h265" },
        { encoder: "native", code: "not_configured" },
      ],
      message:
        "No encoder here can do this (light: the wasm core has no H.265 encoder; native: there is no native encoder: install ffmpeg or set NATIVE_ENCODER_URL).",
    }),
  );
});

test("refuses work that needs more memory than any encoder has", () => {
  const big = video(7680, 4320, 60);
  const memory = { encoder: "native", code: "memory", available_bytes: 8 * 2 ** 30 };
  expect(() => decideAtEdge(big, "video", { codec: "av1" })).toThrow(
    expect.objectContaining({ refusals: [expect.anything(), expect.objectContaining(memory)] }),
  );
  const native = { instances: 1, cores: 4, memory: 32 * 2 ** 30 };
  expect(decideAtEdge(big, "video", { codec: "av1" }, { native }).encoder).toBe("native");
});

test.for(["h264", "h265", "av1"])("4K %s fits a container of 8 GiB", (codec) => {
  expect(decideAtEdge(video(3840, 2160, 30), "video", { codec, width: 3838 }).encoder).toBe("native");
});

test("does not cut a source of unknown duration", () => {
  const { duration: _, ...endless } = video(1280, 720, 10);
  const refusal = { code: "unknown_duration" } as const;
  const light = { refusal, seconds: null };
  expect(decideAtEdge(endless, "video", { width: 640 }, { light })).toEqual({
    ...{ encoder: "native", chunk_seconds: null, seconds: null },
    ...{ reason: { code: "refused" }, refusals: [{ encoder: "light", ...refusal }] },
  });
});
