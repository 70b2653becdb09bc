import { expect, test } from "vitest";
import { createRunLog } from "../../src/encoders/wasm/stock-core.ts";

test("keeps the last 20 lines and drops lines that the core logs on every run", () => {
  const log = createRunLog();
  for (let n = 0; n < 30; n++) log.add(`line ${n}`);
  for (const noise of [
    "Aborted()",
    "Splitting the commandline.",
    "Reading option '-i' ... matched",
    "",
    "    Last message repeated 2 times",
  ]) {
    log.add(noise);
  }
  expect(log.lines).toHaveLength(20);
  expect(log.lines.at(0)).toBe("line 10");
  expect(log.lines.at(-1)).toBe("line 29");
});

test("removes URLs and memory addresses", () => {
  const log = createRunLog();
  log.add("[mov,mp4 @ 0xe0a1c0] moov atom not found");
  log.add("https://host/key?X-Amz-Signature=secret: No such file or directory");
  expect(log.lines).toEqual(["[mov,mp4] moov atom not found", "(URL) No such file or directory"]);
  expect(log.summary()).not.toContain("secret");
});

test("keeps only the last of consecutive progress lines", () => {
  const log = createRunLog();
  log.add("first words");
  for (let n = 0; n < 30; n++) log.add(`frame= ${n} fps=25 time=00:00:01.00`);
  log.add("a warning");
  log.add("size=  10kB time=00:00:02.00");
  expect(log.lines).toEqual([
    "first words",
    "frame= 29 fps=25 time=00:00:01.00",
    "a warning",
    "size=  10kB time=00:00:02.00",
  ]);
});
