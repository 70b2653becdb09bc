import { expect, test } from "vitest";
import { fileName, numberDuplicates, outputName } from "./file-names.ts";

test.for([
  { input: "holiday.MOV", url: "opfs:/page/out/task_1/holiday.mp4", name: "holiday.mp4" },
  { input: "two.dots.webm", url: "https://e.example/media/sig.1/out/x/a.m4a?x=1.b", name: "two.dots.m4a" },
  { input: "no ending", url: "opfs:/page/out/task_1/x.webp", name: "no ending.webp" },
  { input: ".hidden", url: "opfs:/page/out/task_1/x.png", name: "hidden.png" },
  { input: '../a/b:"c".mp4', url: "opfs:/page/out/task_1/x.mp4", name: "_a_b__c_.mp4" },
  { input: "clip.mp4?token=1#t", url: "opfs:/page/out/task_1/x.mp4", name: "clip.mp4" },
  { input: "...", url: "opfs:/page/out/task_1/x.mp4", name: "media.mp4" },
  { input: "plain.mov", url: "https://e.example/out", name: "plain.matroska" },
] as const)("the output of $input at $url is named $name", ({ input, url, name }) => {
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
  { url: "https://e.example/out/sheet_0001.jpg?sig=a/b#t", name: "sheet_0001.jpg" },
  { url: "https://e.example/out/a%20b.jpg", name: "a b.jpg" },
  { url: "https://e.example/out/..%2F..%2Fa.jpg", name: "___.._a.jpg" },
  { url: "https://e.example/out/%2e%2E%5Ca.jpg", name: "___a.jpg" },
  { url: "https://e.example/out/50%.jpg", name: "50%.jpg" },
] as const)("the file at $url stays in its folder, as $name", ({ url, name }) => {
  expect(fileName(url)).toBe(name);
});

test("numbers duplicate names, without reusing a taken one", () => {
  expect(
    numberDuplicates(["a.mp4", "A.mp4", "a (2).mp4", "a.mp4", "b", "b", "c.tar.gz", "c.tar.gz"]),
  ).toEqual(["a.mp4", "A (2).mp4", "a (2) (2).mp4", "a (3).mp4", "b", "b (2)", "c.tar.gz", "c.tar (2).gz"]);
});
