import { expect, test } from "vitest";
import {
  ERROR_KINDS,
  forecast,
  MediaError,
  optionsForSize,
  parseTaskRequest,
  type Source,
} from "../../src/index.ts";
import { faultDetail, faultWords } from "./fault-words.ts";

test("describes every kind of fault in sentences without technical names", () => {
  for (const kind of ERROR_KINDS) {
    const { title, todo } = faultWords({ kind });
    expect(title).toMatch(/^[A-Z].*\.$/);
    expect(todo).toMatch(/^[A-Z].*\.$/);
    expect(title + todo).not.toMatch(/_|undefined|null/);
  }
});

const SILENT: Source = {
  object: "source",
  url: "https://example.com/a.mp4",
  kind: "video",
  format: "mp4",
  duration: 8,
  width: 640,
  height: 360,
  fps: 25,
  codecs: { video: "h264", audio: null },
};
const SOUND: Source = {
  object: "source",
  url: "https://example.com/a.mp3",
  kind: "audio",
  format: "mp3",
  duration: 8,
  codecs: { video: null, audio: "mp3" },
};

function thrownBy(call: () => unknown): MediaError {
  try {
    call();
  } catch (thrown) {
    if (thrown instanceof MediaError) return thrown;
  }
  throw new Error("Nothing was thrown.");
}

test.for([
  { call: () => forecast("audio", {}, SILENT), words: "The source has no sound." },
  { call: () => forecast("video", {}, { ...SILENT, kind: "image" }), words: "The source is a still image." },
  { call: () => forecast("video", {}, SOUND), words: "Video needs pictures, and the source has none." },
  { call: () => forecast("image", {}, SOUND), words: "An image needs pictures, and the source has none." },
  {
    call: () => forecast("video", { start: 9 }, SILENT),
    words: "Start (9) must be before the end of the source (8 s).",
  },
  {
    call: () => forecast("video", { target_size: 1000 }, SILENT),
    words: "File size (1000) is too small for 8 seconds with these options; the minimum is 34667.",
  },
  {
    call: () => optionsForSize("image", {}, SILENT, 1000),
    words: "A file size applies to video and sound only; here the size in pixels and the quality decide.",
  },
  {
    call: () => optionsForSize("audio", { format: "flac" }, SOUND, 1_000_000),
    words: "flac is lossless and has no bitrate; a file size needs mp3, aac, ogg or opus.",
  },
  { call: () => asked({ fps: 61 }), words: "Frames per second must be a number from 1 to 60." },
  { call: () => asked({ start: 9, end: 3 }), words: "End must be after the start (9)." },
  { call: () => asked({ fit: "cover" }), words: "Fit needs both width and height." },
] as const)("words $call for the page", ({ call, words }) => {
  expect(faultDetail(thrownBy(call))).toBe(words);
});

test.for([
  { reason: { code: "playlist" }, words: "The file is a playlist; add the media itself." },
  { reason: { code: "no_answer", from: "source", host: "example.com" }, words: "The message." },
  { reason: { code: "field", field: "webhook_url", rule: "must be a string." }, words: "The message." },
] as const)("words the reason $reason for the page, or keeps the message", ({ reason, words }) => {
  expect(faultDetail({ message: "The message.", reason })).toBe(words);
});

test("a file that is cut off is not called unreadable", () => {
  const reason = { code: "cut_off", seconds: 2.3 } as const;
  expect(faultWords({ kind: "input_unsupported", reason }, true)).toEqual({
    title: "This file is cut off.",
    todo: "Add a complete copy, or convert what is left.",
  });
  expect(faultDetail({ message: "The message.", reason })).toBe(
    "The file is cut off after 2.3 s; “Files that are cut off” converts what is left.",
  );
});

test("keeps the message of an error without a reason", () => {
  expect(faultDetail({ message: "The file is empty." })).toBe("The file is empty.");
});

function asked(options: object): void {
  parseTaskRequest({ input: "https://example.com/a.mp4", kind: "video", options });
}

test("lists distinct refusals once, without encoders that are for other work", () => {
  const message = "No encoder here can do this.";
  const av1 = { code: "input_codec", codec: "av1" } as const;
  const copy = { encoder: "copy", code: "needs_encoding", track: "video" } as const;
  const refusals = [copy, { encoder: "wasm", ...av1 }, { encoder: "light", ...av1 }];
  expect(faultDetail({ message, refusals })).toBe("The wasm core cannot decode AV1.");
  expect(faultDetail({ message, refusals: [copy] })).toBe(message);
});

test("describes unknown kinds as internal_error", () => {
  expect(faultWords({ kind: "of_tomorrow" })).toEqual(faultWords({ kind: "internal_error" }));
  expect(faultWords({ kind: "toString" })).toEqual(faultWords({ kind: "internal_error" }));
});

test("descriptions for the visitor's own file mention no address, server or connection", () => {
  for (const kind of ERROR_KINDS.filter((each) => /^(input_|invalid_input|probe_|encode)/.test(each))) {
    const { title, todo } = faultWords({ kind }, true);
    expect([kind, title + todo]).not.toEqual([
      kind,
      expect.stringMatching(/URL|address|server|your connection/i),
    ]);
  }
  expect(faultWords({ kind: "input_unreachable" }).todo).toContain("Check the address");
});
