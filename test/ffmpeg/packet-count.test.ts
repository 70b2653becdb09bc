import { expect, test } from "vitest";
import {
  type CountRules,
  countCrowded,
  countPictures,
  readLists,
} from "../../src/media/ffmpeg/packet-count.ts";
import { createPlan } from "../../src/media/index.ts";
import type { Source } from "../../src/media/source.ts";

const RULES: CountRules = { length: null, firstPicture: 0, fields: false, from_start: false, slack: 0 };
const NOTHING = { missing: 0, missing_at: null, late_start: false, unreadable: 0 };

/** Returns times 40 ms apart. */
function times(count: number, first = 0): number[] {
  return Array.from({ length: count }, (_, index) => first + index * 0.04);
}

function count(times: readonly number[], decoded: readonly number[], rules: Partial<CountRules> = {}) {
  return countPictures({ times, timed: true }, decoded, { ...RULES, ...rules });
}

test("nothing is missing when every packet has a picture, in any order", () => {
  expect(count([0, 0.12, 0.04, 0.08], times(4))).toEqual({ ...NOTHING, decoded: 4 });
});

test("counts the pictures of a burst beyond a constant rate that covers the average", () => {
  const burst = Array.from({ length: 12 }, (_, index) => 1 + index / 120);
  const bursting = [...times(10), ...burst];
  expect(countCrowded(bursting, { fps: 20 }, 60)).toEqual({ crowded: 5 });
  expect(countCrowded(times(100), { fps: 25 }, 25)).toEqual({});
  expect(countCrowded(bursting, { fps: 20 }, 10)).toEqual({});
  expect(countCrowded(bursting, { fps: 20 }, null)).toEqual({});
});

test("reports a missing picture in the middle, which no earlier start would fix", () => {
  const decoded = times(10).toSpliced(6, 1);
  expect(count(times(10), decoded)).toEqual({
    ...{ decoded: 9, missing: 1, missing_at: 0.24, late_start: false, unreadable: 0 },
  });
});

test("reports pictures before the first decoded one as missing for a late start", () => {
  expect(count(times(10), times(7, 0.12))).toEqual({
    ...{ decoded: 7, missing: 3, missing_at: 0, late_start: true, unreadable: 0 },
  });
});

test("counts pictures before the first decoded one as unreadable at the start of the source", () => {
  expect(count(times(10), times(7, 0.12), { from_start: true })).toEqual({
    ...{ decoded: 7, missing: 0, missing_at: null, late_start: false, unreadable: 3 },
  });
});

test("counts all pictures as missing when none was decoded, even at the start of the source", () => {
  expect(count(times(3), [], { from_start: true })).toMatchObject({ decoded: 0, missing: 3, unreadable: 0 });
});

test("a picture at another time than its packet is not missing, even beside one that is", () => {
  const decoded = times(10).with(1, 0.06);
  expect(count(times(10), decoded)).toEqual({ ...NOTHING, decoded: 10 });
  expect(count(times(10), decoded.toSpliced(6, 1))).toMatchObject({ decoded: 9, missing: 1 });
});

test("ignores packets and pictures outside the span, which includes its start but not its end", () => {
  const around = times(30, -0.4);
  expect(count(around, around.slice(10), { length: 0.4 })).toEqual({ ...NOTHING, decoded: 10 });
});

test("counts two packets of the same time as one picture", () => {
  expect(count([0, 0.04, 0.04, 0.08], times(3))).toEqual({ ...NOTHING, decoded: 3 });
});

test("tolerates a container that rounds times to milliseconds", () => {
  const thirds = times(60).map((time) => (time * 25) / 30);
  expect(
    count(
      thirds.map((time) => Math.round(time * 1000) / 1000),
      thirds,
    ),
  ).toEqual({ ...NOTHING, decoded: 60 });
});

test("does not count the second field of a picture", () => {
  const fields = times(10).flatMap((time) => [time, time + 0.02]);
  expect(count(fields, times(10), { fields: true })).toEqual({ ...NOTHING, decoded: 10 });
  expect(count(fields, times(10))).toMatchObject({ missing: 10 });
  const lost = times(10).toSpliced(4, 1);
  expect(count(fields, lost, { fields: true })).toMatchObject({ decoded: 9, missing: 2, missing_at: 0.16 });
});

test("counts packets without presentation times, with some slack for reordering", () => {
  const listed = { times: times(10), timed: false };
  expect(countPictures(listed, times(9), { ...RULES, slack: 2 })).toEqual({ ...NOTHING, decoded: 9 });
  expect(countPictures(listed, times(5), { ...RULES, slack: 2 })).toEqual({
    ...{ decoded: 5, missing: 3, missing_at: null, late_start: true, unreadable: 0 },
  });
});

test("counts the picture on screen at the start once", () => {
  const packets = [-0.8, -0.3, 0.1];
  expect(count(packets, [-0.8, -0.3, 0.1], { firstPicture: -0.3 })).toEqual({ ...NOTHING, decoded: 2 });
  // The cut moved its time to the start.
  expect(count(packets, [0, 0.1], { firstPicture: -0.3 })).toEqual({ ...NOTHING, decoded: 2 });
  expect(count(packets, [0.1], { firstPicture: -0.3 })).toEqual({
    ...{ decoded: 1, missing: 1, missing_at: 0, late_start: true, unreadable: 0 },
  });
});

test("pictures are not missing when a decoder gives all of them a time before that of their packets", () => {
  const packets = times(20, -0.4);
  const early = packets.map((time) => time - 0.08);
  expect(count(packets, early, { from_start: true })).toEqual({ ...NOTHING, decoded: 8 });
  const lost = early.toSpliced(15, 1);
  expect(count(packets, lost, { from_start: true })).toMatchObject({ decoded: 7, missing: 1 });
});

test("a packet of sound without a duration lasts until the next one, but not across a gap", () => {
  const recording: Source = {
    object: "source",
    url: "https://example.com/recording.mp4",
    kind: "audio",
    format: "mp4",
    duration: 2,
    codecs: { video: null, audio: "opus" },
    audio: { channels: 2, sample_rate: 48_000 },
    streams: [{ index: 0, kind: "audio", codec: "opus" }],
  };
  const starts = [0, 2880, 5760, 48_000, 50_880];
  const packets = starts.map((start) => `0, ${start}, ${start}, 0, 962, 0x1`);
  const list = ["#tb 0: 1/48000", ...packets].join("\n");
  const plan = createPlan(recording, "audio", { format: "mp3" });
  const whole = { index: 0, track: "all", start: 0, end: null } as const;
  const { sound, heard } = readLists(plan, whole, recording, (name) => (name === "sound.txt" ? list : null));
  expect({ sound, heard }).toEqual({ sound: 0.37, heard: { from: 0, until: 1.12 } });
});
