import { describe, expect, test } from "vitest";
import { FAST_TOOLS, NATIVE_TOOLS, refuseTools, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { faultOf } from "../core/fault.ts";
import { parseOptions } from "../core/parse-options.ts";
import { argsOf } from "../ffmpeg/args-of.ts";
import { videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const film = videoSource({ duration: 100, constant_fps: true });

describe("pictures fade", () => {
  test("in the chunks in which the fades lie, by the times of the output", () => {
    const options = { picture_fade_in: 1, picture_fade_out: 2.5, mute: true };
    const args = (chunk: number) => argsOf(film, "video", options, { chunk_seconds: 40, chunk });
    expect(args(0)).toContain("fade=t=in:st=0:d=1,fade=t=out:st=97.5:d=2.5[video]");
    expect(args(2)).toMatch(
      /settb=1\/120000,setpts=PTS\+(\d+),fade=t=out:st=97.5:d=2.5,setpts=PTS-\1\[video\]/,
    );
    expect(args(2)).not.toContain("t=in");
  });

  test("in animations and streams", () => {
    for (const kind of ["animation", "adaptive_video"] as const)
      expect(argsOf(film, kind, { picture_fade_in: 1 })).toContain("fade=t=in:st=0:d=1");
  });

  test("by native ffmpeg and the stock core", () => {
    const plan = createPlan(film, "video", { picture_fade_in: 1 });
    expect(plan.video?.mode).toBe("encode");
    expect(refuseTools(plan, film, FAST_TOOLS)).toEqual({ code: "picture_fades" });
    for (const tools of [WASM_TOOLS, NATIVE_TOOLS]) expect(refuseTools(plan, film, tools)).toBeNull();
  });

  test("no longer than the output", () => {
    const options = { end: 3, picture_fade_in: 2, picture_fade_out: 2 };
    expect(() => createPlan(film, "video", options)).toThrow(
      "options.picture_fade_out is longer than the output, which has 3 seconds for its fades.",
    );
  });
});

describe("a transition", () => {
  const concat = [{ url: "b.mp4", end: 3 }, { url: "c.mp4" }];
  const join = (seconds: number) =>
    createPlan(film, "video", { concat, transition: { kind: "fade", seconds } }, { extra: [film, film] });

  test("overlaps joined videos by whole pictures", () => {
    expect(join(1.01)).toMatchObject({
      transition: { kind: "fade", frames: 25 },
      frames: (100 + 3 + 100 - 2) * 25,
      duration: 100 + 3 + 100 - 2,
    });
    expect(refuseTools(join(1), film, { ...NATIVE_TOOLS, lacks: ["transition"] })).toEqual({
      code: "transition",
    });
  });

  test("leaves at least one picture of each video outside the overlaps", () => {
    expect(() => join(1.5)).toThrow(
      "options.transition.seconds is too long: concat.0 plays for 3 s, which its transitions must not fill.",
    );
  });

  test.for([
    { options: { transition: { kind: "fade", seconds: 1 } }, kind: "invalid_options", name: "transition" },
    {
      options: { concat: [{ url: "https://example.com/b.mp4" }], transition: { kind: "wipe", seconds: 1 } },
      kind: "invalid_options",
      name: "transition.kind",
    },
    {
      options: { concat: [{ url: "https://example.com/b.mp4" }], transition: { kind: "fade", seconds: 0 } },
      kind: "invalid_options",
      name: "transition.seconds",
    },
  ] as const)("is refused with $name at fault: $options", ({ options, kind, name }) => {
    expect(faultOf(() => parseOptions("video", options))).toEqual([kind, `options.${name}`]);
  });
});

describe("pictures that fade or get text for a span", () => {
  const slow = (facts: object) => videoSource({ duration: 100, ...facts });
  const rateOf = (source: Parameters<typeof createPlan>[0], options: object) => {
    const { video } = createPlan(source, "video", options);
    return video?.mode === "encode" ? video.fps : undefined;
  };
  const fades = { picture_fade_in: 1 };
  const text = { text: [{ text: "Now", start: 2, end: 3 }] };
  const overlay = { overlay: { url: "https://example.com/logo.png", end: 3 } };

  test("have a constant rate if those of the source are long", () => {
    const film = slow({ fps: 0.2, constant_fps: true });
    for (const options of [fades, text, overlay]) expect(rateOf(film, options)).toBe(24);
    expect(rateOf(slow({ fps: 10, constant_fps: true }), fades)).toBe(30);
    expect(rateOf(slow({ fps: 3.27 }), fades)).toBe(30);
    expect(createPlan(film, "animation", fades).image?.motion?.fps).toBe(12);
  });

  test("keep their times otherwise", () => {
    for (const source of [slow({ fps: 25 }), slow({ fps: 29.87 }), slow({ fps: 23.976, constant_fps: true })])
      expect(rateOf(source, fades)).toBeNull();
    const film = slow({ fps: 0.2, constant_fps: true });
    expect(rateOf(film, { ...fades, fps: 10 })).toBe(10);
    expect(rateOf(film, { text: [{ text: "Always" }] })).toBeNull();
    expect(createPlan(film, "animation", {}).image?.motion?.fps).toBe(0.2);
  });
});

test("pictures fade out at their own end where sound outlasts them", () => {
  const streams = [
    { index: 0, kind: "video", codec: "h264", end: 60 },
    { index: 1, kind: "audio", codec: "aac", end: 100 },
  ] as const;
  const film = videoSource({ duration: 100, streams: [...streams] });
  const start = (kind: "video" | "adaptive_video" | "animation", options: object) =>
    createPlan(film, kind, { picture_fade_out: 2, ...options }).picture_fades?.out?.at;
  expect(start("video", {})).toBe(58);
  expect(start("video", { speed: 0.5 })).toBe(118);
  expect(start("animation", { start: 20 })).toBe(38);
  // The last picture of a stream stays as long as the sound, and at a constant rate it fills a span.
  expect(start("adaptive_video", {})).toBe(98);
  expect(start("video", { fps: 12, end: 70 })).toBe(68);
  expect(() => start("video", { start: 59 })).toThrow("which has 1 seconds for its fades");
});
