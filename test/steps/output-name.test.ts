import { expect, test } from "vitest";
import { outputStem } from "../../src/runs/steps/upload.ts";

test.each([
  ["https://example.com/films/Holiday%202026.final.MOV?token=secret", "Holiday-2026-final"],
  ["https://example.com/%D1%84%D0%B8%D0%BB%D1%8C%D0%BC.mp4", "output"],
  ["https://example.com/caf%C3%A9.mp4", "cafe"],
  ["https://example.com/", "output"],
  ["https://example.com/a/b/", "b"],
  ["https://example.com/..%2f..%2fetc%2fpasswd", "etc-passwd"],
  ["https://example.com/%ff%fe.mp4", "ff-fe"],
  [`https://example.com/${"x".repeat(200)}.mp4`, "x".repeat(64)],
  ["s3://bucket/key/clip.webm", "clip"],
  ["not a url", "output"],
])("names the output of %s %s", (input, stem) => {
  expect(outputStem(input)).toBe(stem);
});
