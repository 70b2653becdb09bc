import { expect, test } from "vitest";
import { parseDemoArgs } from "../../worker/local/demo-terminal.ts";

const sample = { input: null, kind: "video", options: { width: 640 }, out: null };

test.for([
  ["", sample],
  ["--width 320", { ...sample, options: { width: 320 } }],
  ["--format webm", { ...sample, options: { format: "webm", width: 640 } }],
  ["a.mov", { input: "a.mov", kind: "video", options: {}, out: null }],
  ["a.mov --format mp3", { input: "a.mov", kind: "audio", options: { format: "mp3" }, out: null }],
  ["a.mov --format hls", { input: "a.mov", kind: "adaptive_video", options: { format: "hls" }, out: null }],
  ["a.mov --out b.webm", { input: "a.mov", kind: "video", options: { format: "webm" }, out: "b.webm" }],
  ["a.mov --out b.JPG", { input: "a.mov", kind: "image", options: { format: "jpeg" }, out: "b.JPG" }],
  ["a.mov --out b.jpeg", { input: "a.mov", kind: "image", options: { format: "jpeg" }, out: "b.jpeg" }],
  // An explicit format or kind wins over the output's extension.
  [
    "a.mov --format flac --out b.mp4",
    { input: "a.mov", kind: "audio", options: { format: "flac" }, out: "b.mp4" },
  ],
  ["a.mov --kind image --out b.mp4", { input: "a.mov", kind: "image", options: {}, out: "b.mp4" }],
  [
    "https://a.example/b.mov --kind video --width 50% --height 90 --fit cover --position top-left",
    {
      input: "https://a.example/b.mov",
      kind: "video",
      options: { width: "50%", height: 90, fit: "cover", position: "top-left" },
      out: null,
    },
  ],
  [
    "a.mov --codec vp9 --quality low --fps 29.97 --bitrate 500000 --start 0.5 --end 2 --background #1e90ff",
    {
      input: "a.mov",
      kind: "video",
      options: {
        ...{ codec: "vp9", quality: "low", fps: 29.97, bitrate: 500_000 },
        ...{ start: 0.5, end: 2, background: "#1e90ff" },
      },
      out: null,
    },
  ],
  // Left to the service to reject.
  ["a.mov --kind film --width wide", { input: "a.mov", kind: "film", options: { width: "wide" }, out: null }],
] as const)("%j", ([args, wish]) => {
  expect(parseDemoArgs(args.split(" ").filter(Boolean))).toEqual(wish);
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
