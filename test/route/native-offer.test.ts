import { expect, test } from "vitest";
import type { EncodeKind } from "../../src/media/formats.ts";
import { nativeOffer } from "../../src/media/route.ts";
import type { Source } from "../../src/media/source.ts";
import { imageSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { MB, sound, video } from "./sources.ts";

const FILM = video(1920, 1080, 7200);
const LONG: [string, Source, EncodeKind, Record<string, unknown>][] = [
  ["a two-hour film", FILM, "video", { height: 720 }],
  ["a two-hour film in AV1", FILM, "video", { codec: "av1" }],
  ["five minutes", video(1280, 720, 300), "video", { height: 360 }],
  ["a minute of h265", video(1920, 1080, 60), "video", { codec: "h265" }],
  ["a stream", video(1920, 1080, 1000), "adaptive_video", {}],
  ["a short stream", video(1920, 1080, 70), "adaptive_video", {}],
];
const WHOLE: typeof LONG = [
  ["a song", sound(240, 40 * MB), "audio", { format: "flac" }],
  ["a photo", imageSource(), "image", { format: "avif" }],
];

function offer(
  [, source, kind, options]: (typeof LONG)[number],
  host: { instances: number; cores: number; max_in_flight: number },
) {
  const plan = createPlan(source, kind, options, { chunk_seconds: Number.POSITIVE_INFINITY });
  return nativeOffer(plan, source, { refusal: null, ...host });
}

test.for(LONG)("adding encoders makes %s faster, and never slower", (row) => {
  const times = Array.from({ length: 128 }, (_, index) => {
    return offer(row, { instances: index + 1, cores: 2, max_in_flight: 128 }).seconds ?? Number.NaN;
  });
  for (const [index, seconds] of times.entries())
    expect(seconds).toBeLessThanOrEqual(times[index - 1] ?? Number.POSITIVE_INFINITY);
  expect(times.at(-1)).toBeLessThan(times[0] ?? 0);
});

test.for(WHOLE)("%s is never cut, and takes the same time on any number of encoders", (row) => {
  const alone = offer(row, { instances: 1, cores: 2, max_in_flight: 128 });
  expect(alone).toMatchObject({ refusal: null, chunk_seconds: null, chunks: 1, at_once: 1 });
  expect(alone.seconds).toBeGreaterThan(0);
  for (const instances of [2, 4, 32, 128])
    expect(offer(row, { instances, cores: 2, max_in_flight: 128 })).toEqual(alone);
});

test.for(LONG)("chunks of %s last 20 to 120 s, and those of adaptive video are whole segments", (row) => {
  const [, source, kind, options] = row;
  for (const instances of [1, 2, 3, 4, 8, 32]) {
    const { chunk_seconds, chunks } = offer(row, { instances, cores: 4, max_in_flight: 32 });
    if (chunk_seconds === null) throw new Error("The plan was not cut.");
    expect(chunks).toBeGreaterThan(1);
    expect(chunk_seconds).toBeGreaterThanOrEqual(20);
    expect(chunk_seconds).toBeLessThanOrEqual(120);
    if (kind === "adaptive_video") expect(chunk_seconds % 6).toBe(0);
    const planned = createPlan(source, kind, options, { chunk_seconds }).chunks;
    expect(planned.filter(({ track }) => track !== "audio").length).toBeGreaterThan(1);
  }
});

test("respects the limit on chunks in flight", () => {
  const film = LONG[0] as (typeof LONG)[number];
  const four = offer(film, { instances: 4, cores: 2, max_in_flight: 8 }).seconds;
  expect(offer(film, { instances: 64, cores: 2, max_in_flight: 4 }).seconds).toBe(four);
  expect(offer(film, { instances: 64, cores: 2, max_in_flight: 64 }).seconds).toBeLessThan((four ?? 0) / 10);
});

test("a single encoder cuts a film of measured quality into short chunks, each with a rate of its own", () => {
  const one = { instances: 1, cores: 2, max_in_flight: 8 };
  const [measured, fixed] = (["auto", "high"] as const).map((quality) =>
    offer(["two minutes", video(1280, 720, 120), "video", { quality, height: 480 }], one),
  );
  expect(fixed).toMatchObject({ chunk_seconds: null, chunks: 1 });
  expect(measured).toMatchObject({ chunk_seconds: 20, chunks: 6 });
  expect(measured?.seconds).toBeLessThan((fixed?.seconds ?? 0) * 1.1);
});

test("a stream of measured renditions, which have one rate each, is cut as a fixed one", () => {
  const one = { instances: 1, cores: 2, max_in_flight: 8 };
  const [measured, fixed] = (["auto", "fixed"] as const).map((ladder) =>
    offer(["two minutes", video(1280, 720, 120), "adaptive_video", { ladder }], one),
  );
  expect(measured).toEqual(fixed);
});
