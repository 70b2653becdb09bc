import { expect, test } from "vitest";
import type { EncodeKind } from "../../src/core/formats.ts";
import type { Source } from "../../src/core/source.ts";
import { createPlan } from "../../src/plan/index.ts";
import { nativeOffer } from "../../src/route/native-offer.ts";
import { imageSource } from "../plan/source.ts";
import { MB, sound, video } from "./sources.ts";

const FILM = video(1920, 1080, 7200);
const LONG: [string, Source, EncodeKind, Record<string, unknown>][] = [
  ["a two-hour film", FILM, "video", { height: 720 }],
  ["a two-hour film in AV1", FILM, "video", { codec: "av1" }],
  ["five minutes", video(1280, 720, 300), "video", { height: 360 }],
  ["a minute of h265", video(1920, 1080, 60), "video", { codec: "h265" }],
  ["a stream", video(1920, 1080, 1000), "adaptive_video", {}],
  ["a short stream", video(1920, 1080, 70), "adaptive_video", {}],
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

test.for(LONG)("adding encoders never makes %s slower", (row) => {
  let last = Number.POSITIVE_INFINITY;
  for (let instances = 1; instances <= 128; instances++) {
    const { seconds } = offer(row, { instances, cores: 2, max_in_flight: 128 });
    expect(seconds).toBeLessThanOrEqual(last);
    last = seconds ?? Number.NaN;
  }
});

test.for(LONG)("chunks of %s last 20 to 120 s, and those of adaptive video are whole segments", (row) => {
  const [, source, kind, options] = row;
  for (const instances of [1, 2, 3, 4, 8, 32]) {
    const { chunk_seconds, chunks } = offer(row, { instances, cores: 4, max_in_flight: 32 });
    expect(chunk_seconds === null).toBe(chunks === 1);
    if (chunk_seconds === null) continue;
    expect(["video", "adaptive_video"]).toContain(kind);
    expect(chunk_seconds).toBeGreaterThanOrEqual(20);
    expect(chunk_seconds).toBeLessThanOrEqual(120);
    if (kind === "adaptive_video") expect(chunk_seconds % 6).toBe(0);
    expect(createPlan(source, kind, options, { chunk_seconds }).chunks.length).toBeGreaterThan(1);
  }
});

test("respects the limit on chunks in flight", () => {
  const film = LONG[0] as (typeof LONG)[number];
  const four = offer(film, { instances: 4, cores: 2, max_in_flight: 8 }).seconds;
  expect(offer(film, { instances: 64, cores: 2, max_in_flight: 4 }).seconds).toBe(four);
  expect(offer(film, { instances: 64, cores: 2, max_in_flight: 64 }).seconds).toBeLessThan((four ?? 0) / 10);
});
