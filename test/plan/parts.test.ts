import { describe, expect, test } from "vitest";
import { createCanvasEncoder } from "../../src/encoders/images/canvas.ts";
import { LIGHT_LIMITS, refuseLight } from "../../src/encoders/light/light-estimate.ts";
import { NATIVE_PROTOCOL } from "../../src/encoders/native/native-wire.ts";
import { createWebCodecsEncoder } from "../../src/encoders/webcodecs/webcodecs.ts";
import { moveChapters } from "../../src/media/chapters.ts";
import { waitingSeconds } from "../../src/media/features/parts-plan.ts";
import { subtitleBytes } from "../../src/media/features/subtitles.ts";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { readLists } from "../../src/media/ffmpeg/packet-count.ts";
import {
  FAST_TOOLS,
  NATIVE_TOOLS,
  refuseTools,
  type Toolset,
  WASM_TOOLS,
} from "../../src/media/ffmpeg/toolset.ts";
import { forecast } from "../../src/media/forecast.ts";
import type { Chunk, Plan } from "../../src/media/plan.ts";
import { cutPlan, freezePictures, shownEnd } from "../../src/media/timeline.ts";
import { parseTaskRequest } from "../../src/runs/requests.ts";
import { shiftCues } from "../../src/subtitles/cue.ts";
import { shownRange } from "../../src/subtitles/track.ts";
import { describeSettings } from "../../web/words/item-words.ts";
import { parseJob } from "../../worker/container/parse-job.ts";
import { argsOf } from "../ffmpeg/args-of.ts";
import { audioSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const film = videoSource();
const parts = [{ start: 5, end: 7.04 }, { end: 1 }, { start: 0.5, end: 1.5 }, { start: 8 }];

test("parts are placed one after the other, in their order, and may overlap", () => {
  const plan = createPlan(film, "video", { parts });
  expect(plan).toMatchObject({
    ...{ start: 0, end: 10, frames: 51 + 25 + 25 + 50 },
    parts: [
      { start: 5, end: 7.04, at: 0 },
      { start: 0, end: 1, at: 2.04 },
      { start: 0.5, end: 1.5, at: 3.04 },
      { start: 8, end: 10, at: 4.04 },
    ],
    chunks: [
      { index: 0, track: "video", start: 5, end: 7.04, at: 0 },
      { index: 1, track: "video", start: 0, end: 1, at: 2.04 },
      { index: 2, track: "video", start: 0.5, end: 1.5, at: 3.04 },
      { index: 3, track: "video", start: 8, end: 10, at: 4.04 },
      { index: 4, track: "audio", start: 0, end: 10 },
    ],
  });
  expect(plan.duration).toBeCloseTo(6.04, 9);
  expect(forecast("video", { parts }, film).duration).toBeCloseTo(6.04, 9);
});

test("one part is a start and an end, as are parts that follow each other without a gap", () => {
  const trimmed = createPlan(film, "video", { start: 2, end: 6 });
  expect(createPlan(film, "video", { parts: [{ start: 2, end: 6 }] })).toEqual(trimmed);
  const halves = [
    { start: 2, end: 4 },
    { start: 4, end: 6 },
  ];
  expect(createPlan(film, "video", { parts: halves })).toEqual(trimmed);
});

test("at a constant rate each part takes whole pictures, and its sound as long", () => {
  const plan = createPlan(film, "video", {
    fps: 30,
    speed: 2,
    parts: [
      { start: 1, end: 2.03 },
      { start: 4, end: 4.001 + 0.01 },
    ],
  });
  expect(plan.parts).toEqual([
    { start: 1, end: 2, at: 0 },
    { start: 4, end: 4.066667, at: 0.5 },
  ]);
  expect(plan.frames).toBe(16);
  expect(plan.duration).toBeCloseTo(16 / 30, 6);
});

test("long parts are cut into chunks that end with their part", () => {
  const long = videoSource({ duration: 3600 });
  const ranges = [
    { start: 1000, end: 1100 },
    { start: 0, end: 30 },
  ];
  const plan = createPlan(long, "video", { parts: ranges, mute: true });
  expect(cutPlan(plan, { chunk_seconds: 50 }).chunks).toEqual([
    { index: 0, track: "video", start: 1000, end: 1050, at: 0 },
    { index: 1, track: "video", start: 1050, end: 1100, at: 50 },
    { index: 2, track: "video", start: 0, end: 30, at: 100 },
  ]);
});

describe("sound", () => {
  const graphOf = (options: object) =>
    argsOf(audioSource({ duration: 200 }), "audio", { format: "flac", ...options });

  test("is joined to the sample, with fades of 5 ms where it jumps", () => {
    const line = graphOf({
      parts: [
        { start: 1, end: 2 },
        { start: 3, end: 4 },
      ],
    });
    expect(line).toContain(
      "[0:a:0]asplit=1[run0-0];[run0-0]atrim=start=0.1:end=3.1,asplit=2[in0][in1];" +
        "[in0]atrim=start=0.1:end=1.1,asetpts=PTS-round(0.1/TB),aresample=async=1:min_hard_comp=0.02:first_pts=0," +
        "aformat=sample_rates=44100,apad,asetpts=N/SR/TB,atrim=end_sample=44100,afade=t=out:ss=43879:ns=221[part0];",
    );
    expect(line).toContain(
      "atrim=end_sample=44100,afade=t=in:ns=221[part1];[part0][part1]concat=n=2:v=0:a=1",
    );
  });

  test("fades out at the end of the output, or where the last part with sound ends", () => {
    const fadeOf = (list: object[], end: number) => {
      const source = videoSource({
        duration: 10,
        streams: [
          { index: 0, kind: "video", codec: "h264" },
          { index: 1, kind: "audio", codec: "aac", end },
        ],
      });
      const { audio } = createPlan(source, "video", { parts: list, fade_out: 1 });
      return audio?.mode === "encode" ? audio.shape?.fade_out?.at : undefined;
    };
    const late = { start: 5, end: 10 };
    expect(fadeOf([late, { start: 0, end: 10 }, late], 10)).toBe(19);
    expect(fadeOf([{ start: 0, end: 4 }, late], 9)).toBe(7);
    expect(fadeOf([{ start: 0, end: 4 }, { start: 7 }], 6)).toBe(3);
  });

  test("is read by one input while the parts go forward, and by others after a jump", () => {
    const seeks = (list: object[]) =>
      [...graphOf({ parts: list }).matchAll(/-ss (\S+)/g)].map(([, at]) => at);
    expect(
      seeks([
        { start: 10, end: 11 },
        { start: 12, end: 13 },
        { start: 100, end: 101 },
        { start: 50, end: 51 },
      ]),
    ).toEqual(["9.9", "99.9", "49.9"]);
    const many = Array.from({ length: 500 }, (_, index) => ({ start: index * 0.4, end: index * 0.4 + 0.2 }));
    expect(graphOf({ parts: many }).match(/-i IN/g)).toHaveLength(1);
  });
});

test("chapters and subtitles follow the parts", () => {
  const plan = createPlan(film, "video", { parts });
  const chapters = [
    { start: 0, end: 6, title: "One" },
    { start: 6, end: 10, title: "Two" },
  ];
  expect(moveChapters(chapters, plan)).toEqual([
    { start: 0, end: 1, title: "One" },
    { start: 1, end: 2.04, title: "Two" },
    { start: 2.04, end: 4.04, title: "One" },
    { start: 4.04, end: 6.04, title: "Two" },
  ]);
  const cue = { start: 700, end: 1200, text: "a", settings: "" };
  expect(shiftCues([cue], shownRange(plan)).map(({ start, end }) => [start, end])).toEqual([
    [2740, 3040],
    [3240, 3740],
  ]);
});

test("a chapter of parts that follow each other appears once, however their times are rounded", () => {
  const ranges = [1.001, 2.005, 3.003, 5.009, 7.011].map((start) => ({ start, end: start + 0.7 }));
  const plan = createPlan(film, "video", { parts: ranges, speed: 1.5 });
  expect(moveChapters([{ start: 0, end: 10, title: "One" }], plan)).toHaveLength(1);
});

test("wrong parts are refused by name", () => {
  const request = (options: object) => () =>
    parseTaskRequest({ input: "https://a.example/a.mp4", kind: "video", options });
  expect(request({ parts: [] })).toThrow(
    "options.parts must be a list of 1 to 500 ranges, each { start, end }.",
  );
  expect(request({ parts: Array.from({ length: 501 }, () => ({ start: 1 })) })).toThrow("1 to 500 ranges");
  expect(request({ parts: [{ end: 1 }, { start: 3, end: 3 }] })).toThrow(
    "options.parts.1.end (3) must be at least 0.01 s after the start of the part (3).",
  );
  // 2.01 - 2 is less than 0.01 in binary floating point.
  expect(request({ parts: [{ start: 2, end: 2.01 }] })).not.toThrow();
  expect(request({ parts, end: 3 })).toThrow("options.end and options.parts cannot both be given.");
  expect(request({ parts, concat: [{ url: "https://a.example/b.mp4" }] })).toThrow(
    "options.parts and options.concat cannot both be given.",
  );
  expect(() => createPlan(audioSource(), "audio", { parts, mode: "copy" })).toThrow(
    'options.mode cannot be "copy": parts of sound alone are joined at exact samples, which needs an encode; leave out mode.',
  );
  expect(() => createPlan(film, "video", { parts: [{ end: 2 }, { start: 10, end: 12 }] })).toThrow(
    "options.parts.1.start (10) must be before the end of the source (10 s).",
  );
  const { duration: _, ...endless } = film;
  expect(() => createPlan(endless, "video", { parts })).toThrow(
    "The source's duration is unknown; parts of it need it.",
  );
});

test("a stream numbers the segments of its parts one after the other, and older encoders refuse it", () => {
  const ranges = [
    { start: 0, end: 6.2 },
    { start: 1, end: 2 },
    { start: 1, end: 10 },
  ];
  const plan = createPlan(film, "adaptive_video", { parts: ranges });
  const picturesOf = ({ chunks }: Plan) => chunks.filter(({ track }) => track === "video");
  expect(picturesOf(plan).map(({ at }) => at)).toEqual([0, 6.2, 7.2]);
  const numbersOf = (stream: Plan) =>
    picturesOf(stream).map((chunk) => {
      const args = chunkArgs(stream, chunk, film, { input: "IN", output: "OUT" }, NATIVE_TOOLS);
      return args.includes("-start_number") ? args[args.indexOf("-start_number") + 1] : null;
    });
  // The last fifth of a second of the first part belongs to its only segment, except in AV1.
  expect(numbersOf(plan)).toEqual([null, "1", "2"]);
  const withAv1 = createPlan(film, "adaptive_video", { parts: ranges, codecs: ["h264", "av1"] });
  expect(numbersOf(withAv1)).toEqual([null, "2", "3"]);
  const refused = [NATIVE_TOOLS, WASM_TOOLS, FAST_TOOLS].map((tools) => refuseTools(plan, film, tools));
  expect(refused).toEqual([null, null, null]);
  const older: Toolset = { ...NATIVE_TOOLS, lacks: ["stream_parts"] };
  expect(refuseTools(plan, film, older)).toEqual({ code: "stream_parts" });
});

test("each part of a stream that outlasts the pictures keeps the last one until its end", () => {
  const source = videoSource({
    duration: 10,
    streams: [
      { index: 0, kind: "video", codec: "h264", end: 8 },
      { index: 1, kind: "audio", codec: "aac", end: 10 },
    ],
  });
  const ranges = [
    { start: 7, end: 9 },
    { start: 1, end: 2 },
    { start: 9, end: 10 },
  ];
  const plan = createPlan(source, "adaptive_video", { parts: ranges });
  const frozen = plan.chunks.map((chunk) => {
    const { count, from } = freezePictures(source, plan, chunk);
    return { count, from };
  });
  expect(frozen).toEqual([
    { count: 25, from: 1 },
    { count: 0, from: 0 },
    // The last picture is shown at the start of the part, and 24 times more.
    { count: 24, from: 0.04 },
    { count: 0, from: 0 },
  ]);
  expect(shownEnd(source, plan)).toBe(4);
});

test("all encoders of videos and sound join parts", () => {
  const plan = createPlan(film, "video", { parts });
  const refused = [NATIVE_TOOLS, WASM_TOOLS, FAST_TOOLS].map((tools) => refuseTools(plan, film, tools));
  expect(refused).toEqual([null, null, null]);
  expect(createWebCodecsEncoder({ sound: null }).refuse(plan, film)).not.toEqual({ code: "parts" });
  expect(createCanvasEncoder().refuse(plan, film)).toEqual({ code: "other_work" });
});

test("a container accepts only parts in seconds", () => {
  const plan = createPlan(film, "video", { parts });
  const job = {
    protocol: NATIVE_PROTOCOL,
    id: "a",
    plan,
    chunk: plan.chunks[1],
    source: film,
    input: { url: "https://a.example/i", size: 1, etag: "a" },
    folder: "https://a.example/o/",
    name: "output.mp4",
  };
  expect(parseJob(job, null)).toMatchObject({ plan, chunk: { at: 2.04 } });
  const hostile = {
    ...job,
    plan: { ...plan, parts: [{ start: "0;movie=x", end: 1, at: 0 }, plan.parts?.[0]] },
  };
  expect(() => parseJob(hostile, null)).toThrow(/parts/);
});

test("text that parts repeat is counted for a target size", () => {
  const subtitles = [{ url: "https://a.example/a.srt" }];
  const extra = [{ ...film, filesize: 40_000 }];
  const bytes = (list: { start: number; end: number }[]) => subtitleBytes({ subtitles }, extra, list);
  const whole = { start: 0, end: 10 };
  expect(bytes([])).toBe(40_000);
  expect(bytes([whole, { start: 2, end: 4 }, { start: 4, end: 8 }])).toBe(80_000 + 300);
  expect(bytes([whole, whole, whole])).toBe(120_000 + 300);
});

test("500 parts of 200,000 cues show the same cues as each part alone", () => {
  const cues = Array.from({ length: 200_000 }, (_, at) => ({
    ...{ start: at * 50, end: at * 50 + (at % 1000 === 0 ? 60_000 : 40), text: `${at}`, settings: "" },
  }));
  const many = Array.from({ length: 500 }, (_, at) => ({ start: at * 20, end: at * 20 + 0.2, at: at * 0.2 }));
  const range = { start: 0, duration: 100, speed: 1, parts: many };
  const shown = shiftCues(cues, range);
  const expected = many.flatMap((part) =>
    shiftCues(cues.slice(Math.max(0, part.start * 20 - 3000), part.start * 20 + 10), {
      ...{ start: part.start, duration: 0.2, speed: 1 },
    }),
  );
  expect(shown.map(({ text }) => text)).toEqual(expected.map(({ text }) => text));
});

test("sound that waits for earlier parts counts as memory", () => {
  const ranges = Array.from({ length: 40 }, (_, at) => ({
    start: 3600 - at * 60,
    end: 3630 - at * 60,
    at: at * 30,
  }));
  const forward = ranges.toReversed().map((range, at) => ({ ...range, at: at * 30 }));
  expect(waitingSeconds({ parts: forward })).toBe(0);
  expect(waitingSeconds({ parts: ranges })).toBe(32 * 30);
  const long = audioSource({ duration: 4000 });
  const refusal = (list: typeof ranges) =>
    refuseLight(
      createPlan(long, "audio", { parts: list.map(({ at: _, ...range }) => range) }),
      long,
      LIGHT_LIMITS,
    );
  expect(refusal(forward)?.code).not.toBe("memory");
  expect(refusal(ranges)).toMatchObject({ code: "memory" });
});

describe("packets are compared with each part", () => {
  const source = audioSource({ duration: 200, format: "mp4", codecs: { video: null, audio: "aac" } });
  const list = [
    { start: 1, end: 1.1 },
    { start: 150, end: 150.1 },
  ];
  const plan = createPlan(source, "audio", { format: "wav", parts: list });
  const [chunk] = plan.chunks.slice(-1);
  const lines = (from: number, until: number) =>
    ["#tb 0: 1/1000", ...range(from, until).map((at) => `0, ${at}, ${at}, 20, 100, 0x0`)].join("\n");
  const range = (from: number, until: number) =>
    Array.from({ length: Math.ceil((until - from) / 20) }, (_, at) => from + at * 20);
  const count = (lists: Record<string, string>, facts = source) =>
    readLists(plan, chunk as Chunk, facts, (name) => lists[name] ?? "");
  // Each input begins 0.1 s before its part; ffmpeg's timestamps of the second begin at the next whole second.
  const [first, second] = [lines(0, 200), lines(1000, 1220)];

  test("sound that is not decoded is counted even in the shortest part", () => {
    const whole = { "sound.txt": first, "1-sound.txt": second, "heard.txt": first, "1-heard.txt": second };
    expect(count(whole)).toEqual({ sound: 0.2 });
    expect(count({ ...whole, "1-heard.txt": "" })).toEqual({ sound: 0.2, silenced: 0.1 });
  });

  test("the shortest part may lie in the last packet of its input, which ffmpeg does not list", () => {
    const whole = {
      "sound.txt": first,
      "1-sound.txt": lines(1000, 1100),
      "heard.txt": first,
      "1-heard.txt": second,
    };
    expect(count(whole)).toEqual({ sound: 0.1 });
  });

  test("a source that ends before a part is refused", () => {
    const short = { "sound.txt": first, "heard.txt": first };
    expect(() => count(short)).toThrow("The input ends earlier than its headers say");
    expect(() => count(short, { ...source, duration_estimated: true })).toThrow(
      "The part from 150 to 150.1 s extends beyond the end of the source; shorten or remove it.",
    );
  });
});

test("a form names the number of parts", () => {
  const settings = { kind: "video", options: { parts }, target_size: null } as const;
  expect(describeSettings(settings as unknown as Parameters<typeof describeSettings>[0], film)).toContain(
    "4 parts",
  );
});
