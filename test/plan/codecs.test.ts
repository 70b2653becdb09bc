import { expect, test } from "vitest";
import { LIGHT_LIMITS, refuseLight } from "../../src/encoders/light/light-estimate.ts";
import { createWebCodecsEncoder } from "../../src/encoders/webcodecs/webcodecs.ts";
import { FAST_TOOLS, NATIVE_TOOLS, refuseTools, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { forecast } from "../../src/media/forecast.ts";
import { nativeWork } from "../../src/media/native-costs.ts";
import { optionControl } from "../../src/media/option-groups.ts";
import { describeRefusal } from "../../src/media/words.ts";
import { describeSettings } from "../../web/words/item-words.ts";
import { argsOf } from "../ffmpeg/args-of.ts";
import { videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const film = videoSource();
const both = { codecs: ["h264", "h265"] } as const;
const plan = createPlan(film, "adaptive_video", { codecs: ["h264", "h265"] });

test("builds without the encoder refuse by its name, and others by the feature", () => {
  const lacks: ["codecs"] = ["codecs"];
  expect({
    native: refuseTools(plan, film, NATIVE_TOOLS),
    stock: refuseTools(plan, film, WASM_TOOLS),
    fast: refuseTools(plan, film, FAST_TOOLS),
    light: refuseLight(plan, film, LIGHT_LIMITS),
    older: refuseTools(plan, film, { ...NATIVE_TOOLS, lacks }),
    webcodecs: createWebCodecsEncoder({ sound: null }).refuse(plan, film),
  }).toEqual({
    native: null,
    stock: { code: "output_codec", codec: "h265" },
    fast: { code: "output_codec", codec: "h265" },
    light: { code: "output_codec", codec: "h265" },
    older: { code: "stream_codecs" },
    webcodecs: { code: "stream_codecs" },
  });
  expect(describeRefusal({ encoder: "webcodecs", code: "stream_codecs" })).toBe(
    "it encodes streams in H.264 only",
  );
  const tiny = videoSource({ width: 20, height: 12, coded_width: 20, coded_height: 12 });
  expect(
    refuseTools(createPlan(tiny, "adaptive_video", { codecs: ["h264", "h265"] }), tiny, NATIVE_TOOLS),
  ).toEqual({
    ...{ code: "output_too_small", codec: "h265", min_side: 16 },
  });
});

test("the list of H.264 alone changes nothing", () => {
  expect(createPlan(film, "adaptive_video", { codecs: ["h264"] })).toEqual(
    createPlan(film, "adaptive_video", {}),
  );
});

test("each codec costs its own time and memory", () => {
  const work = (codecs: ("h264" | "h265" | "av1")[]) =>
    nativeWork(createPlan(film, "adaptive_video", { codecs }), film);
  const [one, two, three] = [work(["h264"]), work(["h264", "h265"]), work(["h264", "h265", "av1"])];
  const ratio = (a: number | null, b: number | null) => Number(((a ?? 0) / (b ?? 0)).toFixed(2));
  expect([ratio(two.pictures, one.pictures), ratio(three.pictures, one.pictures)]).toEqual([2.43, 5.05]);
  expect([ratio(two.memory, one.memory), ratio(three.memory, one.memory)]).toEqual([1.89, 3.49]);
});

test("AV1 needs a constant frame rate, because its encoder counts pictures between keyframes", () => {
  const uneven = videoSource({ fps: 23.41 });
  expect(() => createPlan(uneven, "adaptive_video", { codecs: ["h264", "av1"] })).toThrow(
    /^options\.codecs cannot contain "av1" for this source, because its frame rate is not constant/,
  );
  const ntsc = videoSource({ fps: 29.97 });
  expect(argsOf(ntsc, "adaptive_video", { codecs: ["h264", "av1"] })).toMatch(
    /-c:v:5 libsvtav1 .* -g:v:5 60 /,
  );
});

test("a stream with AV1 and each of its parts begin with a whole picture, so that its segments are those of H.264", () => {
  const startsOf = (options: object) =>
    createPlan(film, "adaptive_video", { codecs: ["h264", "av1"], ...options })
      .chunks.filter(({ track }) => track !== "audio")
      .map(({ start }) => start);
  const parts = [
    { start: 5.03, end: 7 },
    { start: 2, end: 3.03 },
    // Continues the part before without a gap.
    { start: 3.03, end: 4 },
  ];
  expect([startsOf({ start: 1.01 }), startsOf({ parts })]).toEqual([[1], [5, 2]]);
  expect(createPlan(film, "adaptive_video", { codecs: ["h264", "h265"], start: 1.01 }).start).toBe(1.01);
});

test("each stream has the arguments of its codec", () => {
  const small = videoSource({ width: 320, height: 180, coded_width: 320, coded_height: 180, fps: 25 });
  const args = argsOf(small, "adaptive_video", { codecs: ["h264", "h265"] });
  expect(args).toContain("setsar=1,split=2[v0][v1] ");
  expect(args).toContain("-c:v:0 libx264 -preset:v:0 faster ");
  expect(args).toMatch(
    /-c:v:1 libx265 .*-x265-params:v:1 open-gop=0:log-level=error:b-pyramid=0:scenecut=0 -tag:v:1 hvc1/,
  );
  expect(args).toContain("-crf:v:1 28");
  expect(args).toContain("v:0,name:180p v:1,name:180p_h265");
});

test("small AV1 has no highest bitrate, which its encoder takes only beside an average one", () => {
  const tiny = videoSource({ width: 96, height: 54, coded_width: 96, coded_height: 54, fps: 25 });
  const args = argsOf(tiny, "adaptive_video", { codecs: ["h264", "av1"] });
  expect(args).toContain("-c:v:1 libaom-av1 ");
  expect(args).toMatch(/-crf:v:1 \d+/);
  expect(args).not.toContain("-maxrate:v:1");
  expect(args).toContain("-maxrate:v:0");
});

test("the form offers the codecs, and the summary and the forecast name each thing once", () => {
  const { label, choices } = optionControl("adaptive_video", "codecs", ["h264", "h265"]);
  expect([label, choices?.map((choice) => choice.label)]).toEqual([
    "Codecs",
    ["H.264", "H.264 and H.265", "H.264 and AV1", "H.264, H.265, and AV1"],
  ]);
  expect(forecast("adaptive_video", { codecs: ["h264", "h265"] }, film).renditions).toEqual(
    forecast("adaptive_video", {}, film).renditions,
  );
  const settings = { kind: "adaptive_video", options: both, target_size: null, preset: null } as never;
  expect(describeSettings(settings, film)).toContain("H.264 and H.265");
});
