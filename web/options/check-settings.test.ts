import { expect, test } from "vitest";
import { loweredWords } from "./check-settings.ts";

const outputSize = { width: 426, height: 240 };
const film = { codecs: { video: "h264", audio: "aac" } };

test.for([
  { asked: {}, settled: {}, words: null },
  { asked: { height: 720 }, settled: { height: 720, quality: "medium" }, words: null },
  {
    asked: { height: 720 },
    settled: { height: 240 },
    words: "To stay below 20 MB, the picture shrinks to 426 × 240.",
  },
  {
    asked: { height: 720 },
    settled: { height: 240, fps: 14.985, quality: "very_low" },
    words:
      "To stay below 20 MB, the picture shrinks to 426 × 240, motion drops to 15 frames per second and the sound gets the lowest quality.",
  },
] as const)("from $asked to $settled: $words", ({ asked, settled, words }) => {
  expect(loweredWords(asked, settled, outputSize, film, 20e6)).toBe(words);
});

test("does not mention sound where there is none", () => {
  const silent = { codecs: { video: "h264", audio: null } };
  expect(loweredWords({}, { quality: "very_low" }, outputSize, silent, 20e6)).toBeNull();
});
