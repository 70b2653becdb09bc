import { expect, test } from "vitest";
import { outputStem } from "../../src/runs/steps/upload.ts";

test.each([
  { input: "https://example.com/films/Holiday%202026.final.MOV?token=secret", stem: "Holiday-2026-final" },
  { input: "https://example.com/%D1%84%D0%B8%D0%BB%D1%8C%D0%BC.mp4", stem: "output" },
  { input: "https://example.com/caf%C3%A9.mp4", stem: "cafe" },
  { input: "https://example.com/", stem: "output" },
  { input: "https://example.com/a/b/", stem: "b" },
  { input: "https://example.com/..%2f..%2fetc%2fpasswd", stem: "etc-passwd" },
  { input: "https://example.com/%ff%fe.mp4", stem: "ff-fe" },
  { input: `https://example.com/${"x".repeat(200)}.mp4`, stem: "x".repeat(64) },
  { input: "s3://bucket/key/clip.webm", stem: "clip" },
  { input: "not a url", stem: "output" },
])("names the output of $input $stem", ({ input, stem }) => {
  expect(outputStem(input)).toBe(stem);
});
