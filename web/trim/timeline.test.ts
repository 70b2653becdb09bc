import { expect, test } from "vitest";
import {
  edgesOf,
  faultOf,
  frameAt,
  lastFrame,
  markAt,
  moveEdge,
  parseTime,
  rangeOf,
  reachOf,
  shownAt,
  snap,
  stepBy,
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
  { mark: "begin", time: 0, frame: 0 },
  { mark: "begin", time: 1, frame: 25 },
  { mark: "begin", time: 1.01, frame: 26 },
  { mark: "end", time: 1, frame: 24 },
  { mark: "end", time: 1.01, frame: 25 },
  { mark: "end", time: 0.04, frame: 0 },
  { mark: "moment", time: 1, frame: 25 },
  { mark: "moment", time: 1.039, frame: 25 },
] as const)("the frame of a $mark at $time s is $frame", ({ mark, time, frame }) => {
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
  { text: "0", seconds: 0 },
  { text: "62.5", seconds: 62.5 },
  { text: "62,5", seconds: 62.5 },
  { text: " 62.5 s ", seconds: 62.5 },
  { text: "7 seconds", seconds: 7 },
  { text: ".5", seconds: 0.5 },
  { text: "3.", seconds: 3 },
  { text: "1:02.50", seconds: 62.5 },
  { text: "1:2", seconds: 62 },
  { text: "90:00", seconds: 5400 },
  { text: "1:02:03.04", seconds: 3723.04 },
  { text: "100:00:00", seconds: 360_000 },
  { text: "0.0333666667", seconds: 0.033367 },
] as const)("$text is $seconds s", ({ text, seconds }) => {
  expect(parseTime(text)).toEqual({ seconds });
});

test.for([
  { text: "", words: "Enter a time" },
  { text: "s", words: "Enter a time" },
  { text: "abc", words: "Enter a time" },
  { text: "1e3", words: "Enter a time" },
  { text: "0x10", words: "Enter a time" },
  { text: "1.2.3", words: "Enter a time" },
  { text: "1:02:03:04", words: "Enter a time" },
  { text: "1:-2", words: "Enter a time" },
  { text: ":30", words: "Enter a time" },
  { text: "1".repeat(400), words: "Enter a time" },
  { text: "-1", words: "before the start" },
  { text: "1:60", words: "Seconds go up to 59" },
  { text: "1:60:00", words: "Minutes go up to 59" },
] as const)("rejects $text", ({ text, words }) => {
  const parsed = parseTime(text);
  expect("fault" in parsed && parsed.fault).toContain(words);
});

const timeline = timelineOf({ kind: "video", fps: 25 }, 10);

test.for([
  { range: {}, edges: { begin: 0, end: 10 } },
  { range: { start: 2 }, edges: { begin: 2, end: 10 } },
  {
    range: { start: -2, end: 99 },
    edges: { begin: 0, end: 10 },
  },
  { range: { start: 99 }, edges: { begin: 9.96, end: 10 } },
  {
    range: { start: 5, end: 3 },
    edges: { begin: 5, end: 5.04 },
  },
] as const)("the edges of $range are $edges", ({ range, edges }) => {
  expect(edgesOf(range, timeline)).toEqual(edges);
});

test.for([
  { edges: { begin: 0, end: 10 }, range: {} },
  { edges: { begin: 0, end: 4 }, range: { end: 4 } },
  { edges: { begin: 4, end: 10 }, range: { start: 4 } },
  {
    edges: { begin: 4, end: 9.96 },
    range: { start: 4, end: 9.96 },
  },
] as const)("edges $edges are the range $range", ({ edges, range }) => {
  expect(rangeOf(edges, timeline)).toEqual(range);
});

test("accepts durations with fractions below a microsecond", () => {
  const odd = timelineOf({ kind: "audio" }, 10.000_000_4);
  expect(rangeOf(edgesOf({}, odd), odd)).toEqual({});
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
  { edge: "begin", time: 10.01, words: "The file ends at 0:10.00." },
  { edge: "end", time: 11, words: "The file ends at 0:10.00." },
  { edge: "begin", time: 5, words: "The start must be before the end, which is at 0:05.00." },
  { edge: "end", time: 2.01, words: "The end must be after the start, which is at 0:02.00." },
  { edge: "begin", time: 4.96, words: null },
  { edge: "end", time: 10.004, words: null },
] as const)("a $edge typed as $time s: $words", ({ edge, time, words }) => {
  expect(faultOf(edge, time, { begin: 2, end: 5 }, timeline)).toBe(words);
});

const plain = { shiftKey: false, ctrlKey: false, altKey: false, metaKey: false };

test.for([
  { key: "ArrowRight", shiftKey: false, time: 5.1 },
  { key: "ArrowUp", shiftKey: false, time: 5.1 },
  { key: "ArrowLeft", shiftKey: false, time: 4.9 },
  { key: "ArrowDown", shiftKey: true, time: 4 },
  { key: "ArrowRight", shiftKey: true, time: 6 },
  { key: "PageUp", shiftKey: false, time: 15 },
  { key: "PageDown", shiftKey: false, time: 1 },
  { key: "Home", shiftKey: false, time: 1 },
  { key: "End", shiftKey: false, time: 20 },
  { key: "a", shiftKey: false, time: null },
  { key: "Tab", shiftKey: true, time: null },
] as const)("$key, with Shift $shiftKey, moves from 5 to $time", ({ key, shiftKey, time }) => {
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
