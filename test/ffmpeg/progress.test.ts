import { expect, test } from "vitest";
import { parseProgress } from "../../src/media/ffmpeg/run-log.ts";

test.for([
  { line: "out_time_us=1500000", seconds: 1.5 },
  { line: "out_time_ms=1500000", seconds: 1.5 },
  { line: "out_time=00:00:01.500000", seconds: 1.5 },
  { line: "out_time=01:02:03.250000", seconds: 3723.25 },
  { line: "out_time_us=-46440", seconds: 0 },
  { line: "out_time=-00:00:00.046440", seconds: 0 },
  { line: "out_time_us=N/A", seconds: null },
  { line: "out_time=N/A", seconds: null },
  {
    line: "frame=  120 fps= 30 q=28.0 size=     256kB time=00:00:04.00 bitrate= 524.4kbits/s speed=1.2x",
    seconds: 4,
  },
  { line: "size=     256kB time=-577014:32:22.77 bitrate=N/A speed=N/A", seconds: 0 },
  { line: "frame=    1 fps=0.0 q=-0.0 size=N/A time=N/A bitrate=N/A", seconds: null },
  { line: "frame=120", seconds: null },
  { line: "progress=continue", seconds: null },
  { line: "", seconds: null },
  { line: "  Metadata: time=soon", seconds: null },
] as const)("parses $line as $seconds seconds", ({ line, seconds }) => {
  expect(parseProgress(line)).toBe(seconds);
});

test("caps the time at the expected duration", () => {
  expect(parseProgress("out_time_us=9000000", 4)).toBe(4);
  expect(parseProgress("out_time_us=3000000", 4)).toBe(3);
  expect(parseProgress("out_time_us=9000000", null)).toBe(9);
});
