import { expect, test } from "vitest";
import type { EncodeKind } from "../../src/core/formats.ts";
import type { Source } from "../../src/core/source.ts";
import { lightChunkSeconds, refuse } from "../../src/encoders/light-estimate.ts";
import { LIGHT_LIMITS } from "../../src/encoders/light-limits.ts";
import { checkTools, NATIVE_TOOLS } from "../../src/ffmpeg/toolset.ts";
import { chooseRoute, createPlan, type Plan, type RouteHost } from "../../src/plan/index.ts";
import { imageSource, videoSource } from "./source.ts";

const MB = 1_000_000;
const video = (width: number, height: number, duration: number, more: Partial<Source> = {}): Source =>
  videoSource({
    ...{ width, height, coded_width: width, coded_height: height, duration },
    filesize: Math.round(duration * width * height * 0.3),
    ...more,
  });
const sound = (duration: number, filesize: number): Source => {
  const { width: _w, height: _h, coded_width: _cw, coded_height: _ch, fps: _f, ...rest } = videoSource();
  const codecs = { video: null, audio: "pcm_s16le" };
  return { ...rest, kind: "audio", format: "wav", codecs, duration, filesize };
};

function plan(source: Source, kind: EncodeKind, options: Record<string, unknown>): Plan {
  return createPlan(source, kind, options, { chunk_seconds: Number.POSITIVE_INFINITY });
}

// A host as it is at the edge: four containers of two processors.
function host(whole: Plan, source: Source, options: Record<string, unknown>, more: Partial<RouteHost> = {}) {
  const chunk_seconds = whole.kind === "video" ? lightChunkSeconds(whole, source, LIGHT_LIMITS) : null;
  const cut = chunk_seconds ? createPlan(source, whole.kind, options, { chunk_seconds }) : whole;
  const native = { refusal: checkTools(whole, source, NATIVE_TOOLS), instances: 4, cores: 2 };
  const light = { refusal: refuse(cut, source, LIGHT_LIMITS), seconds: null, chunk_seconds };
  return { light, native, max_in_flight: 8, ...more } satisfies RouteHost;
}

function route(
  source: Source,
  kind: EncodeKind,
  options: Record<string, unknown>,
  { light_seconds = 1, ...more }: Partial<RouteHost> & { light_seconds?: number } = {},
) {
  const whole = plan(source, kind, options);
  const given = host(whole, source, options, more);
  return chooseRoute(whole, source, { ...given, light: { ...given.light, seconds: light_seconds } });
}

const FILM = video(1920, 1080, 7200);
type Work = [string, Source, EncodeKind, Record<string, unknown>, number | undefined, object];

const WORKS: Work[] = [
  [
    "a thumbnail of a photo",
    imageSource(),
    "image",
    { width: 100, format: "webp" },
    0.4,
    { encoder: "light", way: "light", chunk_seconds: null, reason: "about 1 s of computing" },
  ],
  [
    "a thumbnail of a film",
    FILM,
    "image",
    { start: 3, width: 320 },
    undefined,
    {
      ...{ encoder: "native", way: "native", chunk_seconds: null },
      reason:
        "about 1 s of computing; not light: 4272 MB of the input would have to be in memory at once, and 40 MB may be",
    },
  ],
  [
    "a clip of 10 s at 360p",
    video(640, 360, 10),
    "video",
    { height: 240 },
    3.2,
    { encoder: "light", way: "light", chunk_seconds: 24, reason: "about 3 s of computing" },
  ],
  [
    "a clip of half a minute, which native makes sooner",
    video(1280, 720, 30),
    "video",
    { height: 480 },
    39,
    { encoder: "native", way: "native", chunk_seconds: null },
  ],
  [
    "a clip that a container would only have started for",
    video(640, 360, 60),
    "video",
    { height: 240 },
    9,
    {
      ...{ encoder: "light", way: "light" },
    },
  ],
  [
    "h265",
    video(1280, 720, 10),
    "video",
    { codec: "h265" },
    undefined,
    { encoder: "native", way: "native", chunk_seconds: null },
  ],
  [
    "avif",
    imageSource(),
    "image",
    { format: "avif" },
    undefined,
    {
      ...{ encoder: "native", way: "native", chunk_seconds: null },
      reason: "about 1 s of computing; not light: the wasm core has no avif encoder",
    },
  ],
  [
    "a small copy",
    video(640, 360, 10),
    "video",
    {},
    0.2,
    { encoder: "light", way: "copy", chunk_seconds: null, reason: "nothing needs re-encoding" },
  ],
  [
    "a copy of 3 GB",
    video(1920, 1080, 3600, { filesize: 3000 * MB }),
    "video",
    {},
    undefined,
    {
      ...{ encoder: "native", way: "copy", chunk_seconds: null },
      reason:
        "nothing needs re-encoding; not light: 2862 MB of the input would have to be in memory at once, and 40 MB may be",
    },
  ],
  [
    "the sound of an hour",
    sound(3600, 640 * MB),
    "audio",
    { format: "mp3" },
    undefined,
    { encoder: "native", way: "native", chunk_seconds: null },
  ],
  [
    "a clip that is not worth a second encoder",
    video(1280, 720, 45),
    "video",
    { height: 360 },
    60,
    { encoder: "native", way: "native", chunk_seconds: null },
  ],
  [
    "a film of two hours",
    FILM,
    "video",
    { height: 720 },
    undefined,
    { encoder: "native", way: "native in chunks", chunk_seconds: 120 },
  ],
  [
    "adaptive 4k of ten minutes",
    video(3840, 2160, 600),
    "adaptive_video",
    {},
    undefined,
    { encoder: "native", way: "native in chunks", chunk_seconds: 30 },
  ],
];

test.for(WORKS)("%s goes where it is done best", ([, source, kind, options, light_seconds, expected]) => {
  const chosen = route(source, kind, options, light_seconds === undefined ? {} : { light_seconds });
  expect(chosen).toMatchObject(expected);
});

test("a reason names the figures that decided it", () => {
  const light = { refusal: "it takes about 900 s of computing, and 120 s are allowed", seconds: 900 };
  const chosen = route(video(1920, 1080, 480), "video", { height: 720 }, { light });
  expect(chosen.reason).toMatch(
    /^native in chunks: about \d{3} s of computing, 4 chunks of 120 s on 4 encoders; not light: it takes about 900 s of computing, and 120 s are allowed$/,
  );
});

test("without any native encoder, work that is light still runs", () => {
  const native = { refusal: "there is no native encoder", instances: 0, cores: 0 };
  const chosen = route(video(1280, 720, 30), "video", { height: 480 }, { native, light_seconds: 39 });
  expect(chosen).toMatchObject({ encoder: "light", way: "light", chunk_seconds: 6 });
});

test("what nobody can do fails with every reason", () => {
  const native = { refusal: "there is no native encoder", instances: 0, cores: 0 };
  expect(() => route(video(1280, 720, 10), "video", { codec: "h265" }, { native })).toThrow(
    expect.objectContaining({
      kind: "encoder_unavailable",
      retryable: false,
      message:
        "No encoder here can do this (light: the wasm core has no h265 encoder; native: there is no native encoder).",
    }),
  );
});

test("what no encoder has the memory for is refused at once", () => {
  const big = video(7680, 4320, 60);
  expect(() => route(big, "video", { codec: "av1" })).toThrow(
    /native: it takes about \d+ MB of memory, and 8192 MB are there/,
  );
  const native = { refusal: null, instances: 1, cores: 4, memory: 32 * 2 ** 30 };
  expect(route(big, "video", { codec: "av1" }, { native }).encoder).toBe("native");
});

test.for(["h264", "h265", "av1"])("4k of %s fits a container of 8 GiB", (codec) => {
  expect(route(video(3840, 2160, 30), "video", { codec, width: 3838 }).encoder).toBe("native");
});

test("a length that is unknown keeps the plan whole", () => {
  const { duration: _, ...endless } = video(1280, 720, 10);
  const light = { refusal: "the length of the source is unknown", seconds: null };
  expect(route(endless, "video", { width: 640 }, { light })).toEqual({
    ...{ encoder: "native", way: "native", chunk_seconds: null, seconds: null },
    reason: "the length of the source is unknown; not light: the length of the source is unknown",
  });
});

const LONG: [string, Source, EncodeKind, Record<string, unknown>][] = [
  ["a film", FILM, "video", { height: 720 }],
  ["a film in AV1", FILM, "video", { codec: "av1" }],
  ["five minutes", video(1280, 720, 300), "video", { height: 360 }],
  ["a minute of h265", video(1920, 1080, 60), "video", { codec: "h265" }],
  ["a stream", video(1920, 1080, 1000), "adaptive_video", {}],
  ["a short stream", video(1920, 1080, 70), "adaptive_video", {}],
  ["a song", sound(240, 40 * MB), "audio", { format: "flac" }],
  ["a photo", imageSource(), "image", { format: "avif" }],
];
const light = { refusal: "no", seconds: null };

test.for(LONG)("more encoders never make %s take longer", ([, source, kind, options]) => {
  let last = Number.POSITIVE_INFINITY;
  for (let instances = 1; instances <= 128; instances++) {
    const native = { refusal: null, instances, cores: 2 };
    const { seconds } = route(source, kind, options, { light, native, max_in_flight: 128 });
    expect(seconds).toBeLessThanOrEqual(last);
    last = seconds ?? Number.NaN;
  }
});

test.for(LONG)(
  "chunks of %s have 20 to 120 s, and of a stream whole segments",
  ([, source, kind, options]) => {
    for (const instances of [1, 2, 3, 4, 8, 32]) {
      const native = { refusal: null, instances, cores: 4 };
      const { chunk_seconds, way } = route(source, kind, options, { light, native, max_in_flight: 32 });
      expect(chunk_seconds === null).toBe(way !== "native in chunks");
      if (chunk_seconds === null) continue;
      expect(["video", "adaptive_video"]).toContain(kind);
      expect(chunk_seconds).toBeGreaterThanOrEqual(20);
      expect(chunk_seconds).toBeLessThanOrEqual(120);
      if (kind === "adaptive_video") expect(chunk_seconds % 6).toBe(0);
      expect(createPlan(source, kind, options, { chunk_seconds }).chunks.length).toBeGreaterThan(1);
    }
  },
);

test("chunks in flight are no more than are allowed", () => {
  const native = { refusal: null, instances: 64, cores: 2 };
  const [few, many] = [4, 64].map((max_in_flight) =>
    route(FILM, "video", { height: 720 }, { light, native, max_in_flight }),
  );
  const four = route(FILM, "video", { height: 720 }, { light, native: { ...native, instances: 4 } });
  expect(few?.seconds).toBe(four.seconds);
  expect(many?.seconds).toBeLessThan((four.seconds ?? 0) / 10);
});
