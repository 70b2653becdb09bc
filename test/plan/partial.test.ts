import { expect, test } from "vitest";
import { dropped } from "../../src/media/dropped.ts";
import { canJoinByCopy } from "../../src/media/features/concat-plan.ts";
import { ENCODE_KINDS, type EncodeKind } from "../../src/media/formats.ts";
import { createPlan } from "../../src/media/index.ts";
import { CheckedPlan } from "../../src/media/plan-schema.ts";
import type { Source } from "../../src/media/source.ts";

const CUT: Source = {
  object: "source",
  url: "https://example.com/a.mp4",
  kind: "video",
  format: "mp4",
  width: 320,
  height: 240,
  duration: 3.52,
  truncated: true,
  fps: 25,
  pixel_format: "yuv420p",
  codecs: { video: "h264", audio: "aac" },
  audio: { channels: 1, sample_rate: 48_000 },
  streams: [
    { index: 0, kind: "video", codec: "h264", duration: 3.52 },
    { index: 1, kind: "audio", codec: "aac", duration: 3.52 },
  ],
};

const ENDED = ENCODE_KINDS.filter((kind) => kind !== "image");

test.for(ENCODE_KINDS)("%s from a truncated MP4 is refused with the option that helps", (kind) => {
  expect(() => createPlan(CUT, kind, {})).toThrow(
    expect.objectContaining({
      kind: "input_unsupported",
      message: "The file is cut off after 3.52 s; options.partial converts that part.",
      reason: { code: "cut_off", seconds: 3.52 },
    }),
  );
});

test.for(ENDED)("%s with partial ends with the last complete packet", (kind) => {
  const plan = createPlan(CUT, kind, { partial: true });
  expect(plan).toMatchObject({ partial: true, start: 0, end: 3.519 });
  expect(CheckedPlan.safeParse(plan).success).toBe(true);
  expect(createPlan(CUT, kind, { partial: true, end: 2 })).toMatchObject({ end: 2 });
});

test("stills with partial stay before the cut", () => {
  const { image } = createPlan(CUT, "image", { partial: true, count: 2 });
  expect(image?.sheet?.interval).toBe(1.76);
});

test("a truncated part of a joined video is refused without partial", () => {
  const { truncated: _, ...whole } = CUT;
  const options = { concat: [{ url: "https://example.com/b.mp4" }, { url: "https://example.com/c.mp4" }] };
  const hints = { extra: [whole, CUT] };
  expect(() => createPlan(whole, "video", options, hints)).toThrow(
    expect.objectContaining({
      message: "Video 2 of options.concat is cut off after 3.52 s; options.partial converts that part.",
      reason: { code: "cut_off", seconds: 3.52, part: 2 },
    }),
  );
  const plan = createPlan(whole, "video", { ...options, partial: true }, hints);
  expect(plan.partial).toBe(true);
  expect(canJoinByCopy(whole, { ...options, partial: true, mode: "copy" }, [whole, CUT])).toEqual({
    fault: "truncated",
    input: 2,
  });
});

test("dropped lists the incomplete tracks of every kind", () => {
  expect(dropped("video", { partial: true }, CUT)).toEqual([
    { kind: "video", index: 0, reason: "cut_off" },
    { kind: "audio", index: 1, reason: "cut_off" },
  ]);
  const cutKinds = (kind: EncodeKind, options: object) =>
    dropped(kind, { partial: true, ...options }, CUT).flatMap((each) =>
      each.reason === "cut_off" ? [each.kind] : [],
    );
  expect(cutKinds("animation", {})).toEqual(["video"]);
  expect(cutKinds("storyboard", {})).toEqual(["video"]);
  expect(cutKinds("image", { count: 2 })).toEqual(["video"]);
  expect(cutKinds("image", {})).toEqual([]);
  expect(cutKinds("waveform", {})).toEqual(["audio"]);
});

test.for(["avi", "webm", "mpegts", "wav"])("%s does not need partial, and dropped says so too", (format) => {
  const source: Source = { ...CUT, format };
  expect(createPlan(source, "video", { width: 160 }).partial).toBeUndefined();
  expect(dropped("video", { width: 160 }, source)).toContainEqual({
    kind: "video",
    index: 0,
    reason: "cut_off",
  });
});

test("partial does not affect a complete file", () => {
  const { truncated: _, ...whole } = CUT;
  expect(createPlan(whole, "video", { partial: true })).toEqual(createPlan(whole, "video", {}));
});
