import { expect, test } from "vitest";
import { parseDemoArgs } from "../../worker/local/demo-terminal.ts";

const sample = { input: null, kind: "video", options: { width: 640 }, out: null };

test.for([
  { args: "", expected: sample },
  { args: "--width 320", expected: { ...sample, options: { width: 320 } } },
  { args: "--format webm", expected: { ...sample, options: { format: "webm", width: 640 } } },
  { args: "a.mov", expected: { input: "a.mov", kind: "video", options: {}, out: null } },
  {
    args: "a.mov --format mp3",
    expected: { input: "a.mov", kind: "audio", options: { format: "mp3" }, out: null },
  },
  {
    args: "a.mov --format hls",
    expected: { input: "a.mov", kind: "adaptive_video", options: { format: "hls" }, out: null },
  },
  {
    args: "a.mov --out b.webm",
    expected: { input: "a.mov", kind: "video", options: { format: "webm" }, out: "b.webm" },
  },
  {
    args: "a.mov --out b.JPG",
    expected: { input: "a.mov", kind: "image", options: { format: "jpeg" }, out: "b.JPG" },
  },
  {
    args: "a.mov --out b.jpeg",
    expected: { input: "a.mov", kind: "image", options: { format: "jpeg" }, out: "b.jpeg" },
  },
  // An explicit format or kind wins over the output's extension.
  {
    args: "a.mov --format flac --out b.mp4",
    expected: { input: "a.mov", kind: "audio", options: { format: "flac" }, out: "b.mp4" },
  },
  {
    args: "a.mov --kind image --out b.mp4",
    expected: { input: "a.mov", kind: "image", options: {}, out: "b.mp4" },
  },
  {
    args: "https://a.example/b.mov --kind video --width 50% --height 90 --fit cover --position top-left",
    expected: {
      input: "https://a.example/b.mov",
      kind: "video",
      options: { width: "50%", height: 90, fit: "cover", position: "top-left" },
      out: null,
    },
  },
  {
    args: "a.mov --codec vp9 --quality low --fps 29.97 --bitrate 500000 --start 0.5 --end 2 --background #1e90ff",
    expected: {
      input: "a.mov",
      kind: "video",
      options: {
        codec: "vp9",
        quality: "low",
        fps: 29.97,
        bitrate: 500_000,
        start: 0.5,
        end: 2,
        background: "#1e90ff",
      },
      out: null,
    },
  },
  // Left to the service to reject.
  {
    args: "a.mov --kind film --width wide",
    expected: { input: "a.mov", kind: "film", options: { width: "wide" }, out: null },
  },
] as const)("$args", ({ args, expected }) => {
  expect(parseDemoArgs(args.split(" ").filter(Boolean))).toEqual(expected);
});

test("-h asks for help", () => {
  expect(parseDemoArgs(["-h"])).toBeNull();
});

test.for([["--fps", "1e1"], ["--start", "-1"], ["--end", "soon"], ["a", "b"], ["--unheard-of"], ["--width"]])(
  "rejects %j",
  (args) => {
    expect(() => parseDemoArgs(args)).toThrow();
  },
);

test.for([
  { args: ["--fps", "many"], message: '--fps must be a number, not "many".' },
  { args: ["a.mp4", "b.mp4"], message: "Give one FILE or URL, not 2: a.mp4, b.mp4." },
])("says why it rejects $args", ({ args, message }) => {
  expect(() => parseDemoArgs(args)).toThrow(message);
});
