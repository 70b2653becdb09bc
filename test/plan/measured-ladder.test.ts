import { expect, test } from "vitest";
import { createWebCodecsEncoder } from "../../src/encoders/webcodecs/webcodecs.ts";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { FAST_TOOLS, NATIVE_TOOLS, refuseTools } from "../../src/media/ffmpeg/toolset.ts";
import { forecast } from "../../src/media/forecast.ts";
import { optionControl } from "../../src/media/option-groups.ts";
import { chooseRenditions, ladderLevels, type MeasuredRendition } from "../../src/media/quality-search.ts";
import { placeSamples, withRate } from "../../src/runs/steps/measure-quality.ts";
import { describeSettings } from "../../web/words/item-words.ts";
import { videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const FILM = videoSource({ duration: 600, fps: 25 });
const AUTO = { ladder: "auto" } as const;
const plan = createPlan(FILM, "adaptive_video", AUTO);

/** Creates measured renditions from rows of a short side, a CRF, a score and kilobits per second. */
const measuredFrom = (rows: readonly (readonly [number, number, number, number])[]): MeasuredRendition[] =>
  rows.map(([side, crf, score, kilobits]) => ({
    ...{ name: `${side}p`, pixels: (side * side * 16) / 9, crf, score },
    bits: kilobits * 1000,
  }));

test.for([
  {
    name: "a film keeps the sizes between which its loss doubles",
    rows: [
      ...[[1080, 23, 0.972, 4000] as const, [1080, 27, 0.955, 2500] as const],
      ...[[720, 23, 0.94, 2200] as const, [720, 27, 0.92, 1400] as const],
      ...[[480, 23, 0.87, 1000] as const, [480, 27, 0.85, 700] as const],
      ...[[360, 23, 0.8, 600] as const, [360, 27, 0.78, 380] as const],
      ...[[240, 23, 0.7, 300] as const, [240, 27, 0.68, 200] as const],
    ],
    source_bits: 8000,
    chosen: ["1080p 23", "720p 23", "480p 23", "240p 23"],
  },
  {
    name: "a slide deck fits every line at its full size",
    rows: [[720, 23, 0.995, 300] as const, [720, 27, 0.985, 200] as const, [360, 27, 0.8, 150] as const],
    source_bits: 900,
    chosen: ["720p 27"],
  },
  {
    name: "an upscaled source gets no rendition larger than its detail needs",
    rows: [
      ...[[1080, 23, 0.99, 3000] as const, [1080, 27, 0.985, 2000] as const],
      ...[[720, 23, 0.988, 1600] as const, [720, 27, 0.975, 1000] as const, [360, 27, 0.8, 390] as const],
    ],
    source_bits: 5000,
    chosen: ["720p 27", "360p 27"],
  },
  {
    name: "a stream takes no more bits than its source if a rate allows it",
    rows: [[720, 23, 0.96, 900] as const, [720, 27, 0.94, 500] as const, [360, 27, 0.8, 200] as const],
    source_bits: 600,
    chosen: ["720p 27", "360p 27"],
  },
  {
    name: "a source with fewer bits than any rendition keeps its size",
    rows: [[720, 23, 0.96, 900] as const, [720, 27, 0.94, 500] as const, [360, 27, 0.8, 200] as const],
    source_bits: 100,
    chosen: ["720p 27", "360p 27"],
  },
  {
    name: "a rendition that a larger one beats is left out",
    rows: [
      ...[[1080, 27, 0.97, 2000] as const, [720, 27, 0.9, 1100] as const],
      ...[[720, 23, 0.93, 2100] as const, [480, 27, 0.9, 1300] as const, [240, 27, 0.7, 300] as const],
    ],
    source_bits: null,
    chosen: ["1080p 27", "720p 27", "240p 27"],
  },
])("$name", ({ rows, source_bits, chosen }) => {
  const bits = source_bits === null ? null : source_bits * 1000;
  const rungs = chooseRenditions(measuredFrom(rows), bits);
  expect(rungs.map(({ name, crf }) => `${name} ${crf}`)).toEqual(chosen);
});

test("renditions are tried at the requested quality and below it down to low", () => {
  expect(ladderLevels()).toEqual(["low", "medium"]);
  expect(ladderLevels("very_high")).toEqual(["low", "medium", "high", "very_high"]);
  expect([ladderLevels("low"), ladderLevels("very_low")]).toEqual([["low"], ["very_low"]]);
});

test("a measured ladder is planned as a fixed one, which it never exceeds", () => {
  const fixed = createPlan(FILM, "adaptive_video", {});
  expect(plan).toEqual({ ...fixed, video: { ...fixed.video, measured: true } });
  expect(createPlan(FILM, "adaptive_video", { ladder: "fixed" })).toEqual(fixed);
  expect(forecast("adaptive_video", AUTO, FILM)).toEqual(forecast("adaptive_video", {}, FILM));
});

test("the measured renditions replace those of the plan, and a size that is left out is not drawn", () => {
  const rungs = [
    { name: "480p", crf: 25, score: 0.98 },
    { name: "240p", crf: 27, score: 0.9 },
  ];
  const measured = withRate(plan, { rate: 25, rungs });
  expect(measured.renditions.map(({ name, rate }) => [name, rate])).toEqual([
    ["480p", { crf: 25, maxrate: 1_600_000 }],
    ["240p", { crf: 27, maxrate: 400_000 }],
  ]);
  expect(measured.video).toMatchObject({ geometry: { height: 480 }, rate: { crf: 25 } });
  expect(withRate(plan, { rate: 23 })).toEqual(plan);
});

test("codecs with different sizes are scaled from the largest", () => {
  const names = ["360p", "720p_h265", "360p_h265"];
  const rungs = names.map((name) => ({ name, crf: 27, score: 0.98 }));
  const both = createPlan(FILM, "adaptive_video", { ...AUTO, codecs: ["h264", "h265"] });
  const measured = withRate(both, { rate: 27, rungs });
  const [chunk] = measured.chunks;
  const args = chunk && chunkArgs(measured, chunk, FILM, { input: "IN", output: "OUT" }, NATIVE_TOOLS);
  expect(args?.join(" ")).toMatch(/\[v1\]\[s1\];\[s1\]scale=640:360:flags=\w+,setsar=1,split=2\[v0\]\[v2\] /);
});

test("engines without constant quality, and older containers, refuse a measured ladder", () => {
  expect([refuseTools(plan, FILM, NATIVE_TOOLS), refuseTools(plan, FILM, FAST_TOOLS)]).toEqual([null, null]);
  const refusal = { code: "auto_quality" };
  expect(refuseTools(plan, FILM, { ...NATIVE_TOOLS, lacks: ["auto_quality"] })).toEqual(refusal);
  expect(createWebCodecsEncoder({ sound: null }).refuse(plan, FILM)).toEqual(refusal);
});

test("samples are groups of pictures, and a longer encode has more of them, up to six", () => {
  const samples = (seconds: number, own = plan) => {
    const decision = {
      encoder: "native",
      chunk_seconds: null,
      seconds,
      reason: { code: "refused" },
    } as const;
    return placeSamples({ plan: own, decision: { ...decision, refusals: [] } }, FILM, [
      { at: 590, bytes: 20_000, key: false },
    ]);
  };
  expect(samples(5)).toEqual([{ start: 590, end: 592 }]);
  expect(samples(600)).toHaveLength(6);
  expect(samples(5, createPlan(FILM, "adaptive_video", { ...AUTO, end: 1 }))).toEqual([{ start: 0, end: 1 }]);
});

test("the form offers both ladders, and the summary names the measured one", () => {
  const { label, choices } = optionControl("adaptive_video", "ladder", "auto");
  expect([label, choices?.map((choice) => choice.label)]).toEqual(["Renditions", ["Fixed", "Automatic"]]);
  const settings = { kind: "adaptive_video", options: AUTO, target_size: null, preset: null } as never;
  expect(describeSettings(settings, FILM)).toContain("measured renditions");
});
