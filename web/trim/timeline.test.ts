import { expect, test } from "vitest";
import { frameAt, lastFrame, markAt, shownAt, snap, stepBy, timelineOf } from "./timeline.ts";

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
