import { expect, test } from "vitest";
import { fileName, numbered, outputName } from "./file-names.ts";

test.for([
  ["holiday.MOV", "opfs:/page/out/task_1/holiday.mp4", "holiday.mp4"],
  ["two.dots.webm", "https://e.example/media/sig.1/out/x/a.m4a?x=1.b", "two.dots.m4a"],
  ["no ending", "opfs:/page/out/task_1/x.webp", "no ending.webp"],
  [".hidden", "opfs:/page/out/task_1/x.png", "hidden.png"],
  ['../a/b:"c".mp4', "opfs:/page/out/task_1/x.mp4", "_a_b__c_.mp4"],
  ["clip.mp4?token=1#t", "opfs:/page/out/task_1/x.mp4", "clip.mp4"],
  ["...", "opfs:/page/out/task_1/x.mp4", "media.mp4"],
  ["plain.mov", "https://e.example/out", "plain.matroska"],
] as const)("the output of %s at %s is named %s", ([input, url, name]) => {
  expect(outputName(input, { kind: "video", url, format: "matroska" })).toBe(name);
});

test("names a stream's folder without an extension, and cuts long names between characters", () => {
  const url = "opfs:/page/out/task_1/master.m3u8";
  expect(outputName("a.b.mov", { kind: "adaptive_video", url, format: "hls" })).toBe("a.b");
  expect(outputName("a.b.mov", { kind: "image", url, format: "jpeg", files: [] })).toBe("a.b");
  expect(outputName(`${"🎬".repeat(300)}.mov`, { kind: "adaptive_video", url, format: "hls" })).toBe(
    "🎬".repeat(120),
  );
});

test.for([
  ["https://e.example/out/sheet_0001.jpg?sig=a/b#t", "sheet_0001.jpg"],
  ["https://e.example/out/a%20b.jpg", "a b.jpg"],
  ["https://e.example/out/..%2F..%2Fa.jpg", "___.._a.jpg"],
  ["https://e.example/out/%2e%2E%5Ca.jpg", "___a.jpg"],
  ["https://e.example/out/50%.jpg", "50%.jpg"],
] as const)("the file at %s stays in its folder, as %s", ([url, name]) => {
  expect(fileName(url)).toBe(name);
});

test("numbers duplicate names, without reusing a taken one", () => {
  expect(numbered(["a.mp4", "A.mp4", "a (2).mp4", "a.mp4", "b", "b", "c.tar.gz", "c.tar.gz"])).toEqual([
    "a.mp4",
    "A (2).mp4",
    "a (2) (2).mp4",
    "a (3).mp4",
    "b",
    "b (2)",
    "c.tar.gz",
    "c.tar (2).gz",
  ]);
});
