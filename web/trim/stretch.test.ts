import { expect, test } from "vitest";
import { edgesOf, faultOf, moveEdge, reachOf, stretchOf } from "./stretch.ts";
import { timelineOf } from "./timeline.ts";

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
