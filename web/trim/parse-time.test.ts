import { expect, test } from "vitest";
import { parseTime } from "./parse-time.ts";

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
