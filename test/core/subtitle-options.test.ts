import { expect, test } from "vitest";
import { faultOf } from "./fault.ts";
import { parseOptions } from "./parse-options.ts";

const url = "https://example.com/en.srt";

test.for(["video", "adaptive_video"] as const)("%s accepts files of subtitles unchanged", (kind) => {
  const full = { url, language: "pt-BR", label: "Português <\"'>", default: true };
  const subtitles = [
    full,
    { url: "s3://bucket/de.vtt", default: false },
    { url, language: "el", burn: true },
  ];
  for (const list of [[], subtitles, Array.from({ length: 16 }, () => ({ url }))]) {
    expect(parseOptions(kind, { subtitles: list })).toEqual({ subtitles: list });
  }
});

test.for([
  { file: { url: "en.srt" }, kind: "invalid_options", name: "subtitles.0.url" },
  { file: { url: "file:///etc/passwd" }, kind: "invalid_options", name: "subtitles.0.url" },
  { file: { language: "en" }, kind: "invalid_options", name: "subtitles.0.url" },
  { file: { url, language: "" }, kind: "invalid_options", name: "subtitles.0.language" },
  { file: { url, language: 'en"\n#EXT' }, kind: "invalid_options", name: "subtitles.0.language" },
  { file: { url, language: 5 }, kind: "request_invalid", name: "subtitles.0.language" },
  { file: { url, label: "" }, kind: "invalid_options", name: "subtitles.0.label" },
  { file: { url, label: "a\nb" }, kind: "invalid_options", name: "subtitles.0.label" },
  { file: { url, label: "\ud800" }, kind: "invalid_options", name: "subtitles.0.label" },
  { file: { url, label: "a".repeat(101) }, kind: "invalid_options", name: "subtitles.0.label" },
  { file: { url, default: "yes" }, kind: "request_invalid", name: "subtitles.0.default" },
  { file: { url, burn: "yes" }, kind: "request_invalid", name: "subtitles.0.burn" },
  { file: { url, burn: true, label: "A" }, kind: "invalid_options", name: "subtitles" },
  { file: { url, burn: true, default: true }, kind: "invalid_options", name: "subtitles" },
  { file: { url, kind: "captions" }, kind: "request_invalid", name: "subtitles.0.kind" },
] as const)("$file is refused", ({ file, kind, name }) => {
  const fault = faultOf(() => parseOptions("video", { subtitles: [file] }));
  expect(fault).toEqual([kind, `options.${name}`]);
});

test("refuses a value that is not a list, a list that is too long and one with two defaults", () => {
  const [shown, burnt] = [
    { url, default: true },
    { url, burn: true },
  ];
  for (const [subtitles, kind] of [
    [{ url }, "request_invalid"],
    [Array.from({ length: 17 }, () => ({ url })), "invalid_options"],
    [[shown, { url }, shown], "invalid_options"],
    [[burnt, { url }, burnt], "invalid_options"],
  ] as const) {
    const fault = faultOf(() => parseOptions("adaptive_video", { subtitles }));
    expect(fault).toEqual([kind, "options.subtitles"]);
  }
  expect(parseOptions("video", { mode: "copy", subtitles: [{ url }] })).toBeDefined();
  expect(faultOf(() => parseOptions("video", { mode: "copy", subtitles: [burnt] }))).toEqual([
    "invalid_options",
    "options.subtitles",
  ]);
  for (const kind of ["audio", "image", "animation", "storyboard", "waveform"] as const) {
    const fault = faultOf(() => parseOptions(kind, { subtitles: [burnt] }));
    expect(fault).toEqual(["request_invalid", "options.subtitles"]);
  }
});
