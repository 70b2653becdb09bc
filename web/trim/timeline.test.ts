import { expect, test } from "vitest";
import {
  edgesOf,
  faultOf,
  frameAt,
  lastFrame,
  markAt,
  moveEdge,
  parseTime,
  reachOf,
  shownAt,
  snap,
  stepBy,
  stretchOf,
  timeByKey,
  timelineOf,
} from "./timeline.ts";

const video = timelineOf({ kind: "video", fps: 29.97 }, 10);
const film = timelineOf({ kind: "video", fps: 25 }, 10);
const sound = timelineOf({ kind: "audio", fps: 25 }, 10);

test("the smallest step is one frame at the exact rate, or a hundredth of a second of sound", () => {
  expect(video.grain).toBeCloseTo(1001 / 30_000, 9);
  expect(sound).toEqual({ duration: 10, fps: null, grain: 0.01 });
  expect(timelineOf({ kind: "video" }, 10).fps).toBe(25);
  expect(timelineOf({ kind: "video", fps: 25 }, 0.03).grain).toBe(0.03);
});

test.for([
  ["begin", 0, 0],
  ["begin", 1, 25],
  ["begin", 1.01, 26],
  ["end", 1, 24],
  ["end", 1.01, 25],
  ["end", 0.04, 0],
  ["moment", 1, 25],
  ["moment", 1.039, 25],
] as const)("the frame of a %s at %d s is %d", ([mark, time, frame]) => {
  expect(frameAt(mark, time, film)).toBe(frame);
});

test("ten thousand steps forward and back at a fractional rate skip no frame", () => {
  let time = 0;
  for (let step = 1; step <= 10_000; step++) {
    time = stepBy("begin", time, 1, video);
    expect(frameAt("begin", time, video)).toBe(step);
  }
  expect(time).toBeCloseTo((10_000 * 1001) / 30_000, 5);
  for (let step = 0; step < 10_000; step++) time = stepBy("begin", time, -1, video);
  expect(time).toBe(0);
});

test("a step from between two frames goes to the edge of a frame", () => {
  expect(stepBy("begin", 1.01, -1, film)).toBe(1);
  expect(stepBy("end", 1.01, -1, film)).toBe(1);
  expect(stepBy("end", 1, 1, film)).toBe(1.04);
  expect(stepBy("moment", 1.01, 1, film)).toBe(1.04);
  expect(stepBy("begin", 0, -1, film)).toBe(0);
  expect(stepBy("begin", 1, -1, sound)).toBe(0.99);
});

test("a mark shows the middle of its frame, and the shown frame maps back to the mark", () => {
  expect(shownAt("begin", 1, film)).toBeCloseTo(1.02, 9);
  expect(shownAt("end", 1, film)).toBeCloseTo(0.98, 9);
  expect(shownAt("end", 10, film)).toBeCloseTo(9.98, 9);
  expect(shownAt("moment", 9.999, film)).toBeCloseTo(9.98, 9);
  expect(shownAt("begin", 1.234, sound)).toBe(1.234);
  for (const mark of ["begin", "end", "moment"] as const) {
    expect(markAt(mark, shownAt(mark, 3.2, film), film)).toBe(3.2);
  }
  expect(markAt("begin", 1.2345, sound)).toBe(1.23);
});

test("snaps a time to the nearest step", () => {
  expect(snap(1.03, film)).toBe(1.04);
  expect(snap(1.2345, sound)).toBe(1.23);
});

test("with known frame times, steps go from frame to frame and end at the last one", () => {
  const uneven = timelineOf({ kind: "video", fps: 2 }, 3, [0, 0.1, 0.2, 1, 1.4]);
  expect(lastFrame(uneven)).toBe(1.4);
  expect(lastFrame(film)).toBe(9.96);
  expect(["begin", "end", "moment"].map((mark) => frameAt(mark as "begin", 3, uneven))).toEqual([4, 4, 4]);
  expect(frameAt("moment", 0.99, uneven)).toBe(2);
  expect(frameAt("end", 1, uneven)).toBe(2);
  expect(stepBy("moment", 1, 1, uneven)).toBe(1.4);
  expect(stepBy("end", 3, -1, uneven)).toBe(1.4);
  expect(stepBy("begin", 1, -1, uneven)).toBe(0.2);
  expect(shownAt("end", 3, uneven)).toBeCloseTo(2.2);
  expect(markAt("end", 1.2, uneven)).toBe(1.4);
  expect([0.55, 0.7, 2.9].map((time) => snap(time, uneven))).toEqual([0.2, 1, 3]);
});

test.for([
  ["0", 0],
  ["62.5", 62.5],
  ["62,5", 62.5],
  [" 62.5 s ", 62.5],
  ["7 seconds", 7],
  [".5", 0.5],
  ["3.", 3],
  ["1:02.50", 62.5],
  ["1:2", 62],
  ["90:00", 5400],
  ["1:02:03.04", 3723.04],
  ["100:00:00", 360_000],
  ["0.0333666667", 0.033367],
] as const)("%j is %d s", ([text, seconds]) => {
  expect(parseTime(text)).toEqual({ seconds });
});

test.for([
  ["", "Write a time"],
  ["s", "Write a time"],
  ["abc", "Write a time"],
  ["1e3", "Write a time"],
  ["0x10", "Write a time"],
  ["1.2.3", "Write a time"],
  ["1:02:03:04", "Write a time"],
  ["1:-2", "Write a time"],
  [":30", "Write a time"],
  ["1".repeat(400), "Write a time"],
  ["-1", "before the start"],
  ["1:60", "Seconds go up to 59"],
  ["1:60:00", "Minutes go up to 59"],
] as const)("rejects %j", ([text, words]) => {
  const parsed = parseTime(text);
  expect("fault" in parsed && parsed.fault).toContain(words);
});

const timeline = timelineOf({ kind: "video", fps: 25 }, 10);

test.for([
  [{}, { begin: 0, end: 10 }],
  [{ start: 2 }, { begin: 2, end: 10 }],
  [
    { start: -2, end: 99 },
    { begin: 0, end: 10 },
  ],
  [{ start: 99 }, { begin: 9.96, end: 10 }],
  [
    { start: 5, end: 3 },
    { begin: 5, end: 5.04 },
  ],
] as const)("the edges of %j are %j", ([stretch, edges]) => {
  expect(edgesOf(stretch, timeline)).toEqual(edges);
});

test.for([
  [{ begin: 0, end: 10 }, {}],
  [{ begin: 0, end: 4 }, { end: 4 }],
  [{ begin: 4, end: 10 }, { start: 4 }],
  [
    { begin: 4, end: 9.96 },
    { start: 4, end: 9.96 },
  ],
] as const)("edges %j are the stretch %j", ([edges, stretch]) => {
  expect(stretchOf(edges, timeline)).toEqual(stretch);
});

test("accepts durations with fractions below a microsecond", () => {
  const odd = timelineOf({ kind: "audio" }, 10.000_000_4);
  expect(stretchOf(edgesOf({}, odd), odd)).toEqual({});
});

test("an edge stays within the file, at least one frame from the other edge", () => {
  const edges = { begin: 2, end: 5 };
  expect(moveEdge(edges, "begin", 7, timeline)).toEqual({ begin: 4.96, end: 5 });
  expect(moveEdge(edges, "begin", -7, timeline)).toEqual({ begin: 0, end: 5 });
  expect(moveEdge(edges, "end", 1, timeline)).toEqual({ begin: 2, end: 2.04 });
  expect(moveEdge(edges, "end", 70, timeline)).toEqual({ begin: 2, end: 10 });
  expect(reachOf("begin", edges, timeline)).toEqual([0, 4.96]);
  expect(reachOf("end", edges, timeline)).toEqual([2.04, 10]);
});

test.for([
  ["begin", 10.01, "The file ends at 0:10.00."],
  ["end", 11, "The file ends at 0:10.00."],
  ["begin", 5, "The start must be before the end, which is at 0:05.00."],
  ["end", 2.01, "The end must be after the start, which is at 0:02.00."],
  ["begin", 4.96, null],
  ["end", 10.004, null],
] as const)("a %s typed as %d s: %s", ([edge, time, words]) => {
  expect(faultOf(edge, time, { begin: 2, end: 5 }, timeline)).toBe(words);
});

const plain = { shiftKey: false, ctrlKey: false, altKey: false, metaKey: false };

test.for([
  ["ArrowRight", false, 5.1],
  ["ArrowUp", false, 5.1],
  ["ArrowLeft", false, 4.9],
  ["ArrowDown", true, 4],
  ["ArrowRight", true, 6],
  ["PageUp", false, 15],
  ["PageDown", false, 1],
  ["Home", false, 1],
  ["End", false, 20],
  ["a", false, null],
  ["Tab", true, null],
] as const)("%s, with Shift %s, moves from 5 to %s", ([key, shiftKey, time]) => {
  expect(timeByKey({ ...plain, key, shiftKey }, 5, [1, 20])).toBe(time);
});

test("ignores the browser's own shortcuts", () => {
  expect(timeByKey({ ...plain, key: "ArrowLeft", altKey: true }, 5, [1, 20])).toBeNull();
});

test("tenths add up to whole seconds", () => {
  let time = 0;
  for (let step = 0; step < 100; step++) {
    time = timeByKey({ ...plain, key: "ArrowRight" }, time, [0, 20]) ?? 0;
  }
  expect(time).toBe(10);
});
