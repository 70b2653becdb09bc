import { expect, test } from "vitest";
import { FITS, FORMATS, POSITIONS, QUALITIES, VIDEO_CODECS } from "../../src/media/formats.ts";
import { faultOf } from "./fault.ts";
import { parseOptions } from "./parse-options.ts";

type Kind = "video" | "audio" | "image" | "animation" | "storyboard" | "adaptive_video";
const pictures: Kind[] = ["video", "image", "animation", "adaptive_video"];
const timed: Kind[] = ["video", "audio", "animation", "adaptive_video"];
const all: Kind[] = ["video", "audio", "image", "animation", "adaptive_video"];
const box = { width: 10, height: 10 };

const accepted: [Kind, object][] = [
  ...all.map((kind): [Kind, object] => [kind, {}]),
  ...all.flatMap((kind) => Object.keys(FORMATS[kind]).map((format): [Kind, object] => [kind, { format }])),
  ...all.flatMap((kind) => QUALITIES.map((quality): [Kind, object] => [kind, { quality }])),
  ...pictures.flatMap((kind) =>
    [1, 2, 640, 16_384, "1%", "50%", "33.3333%", "1000%", "099%"].flatMap((size): [Kind, object][] => [
      [kind, { width: size }],
      [kind, { height: size }],
    ]),
  ),
  ...pictures.flatMap((kind) => FITS.map((fit): [Kind, object] => [kind, { ...box, fit }])),
  ...pictures.flatMap((kind) => POSITIONS.map((position): [Kind, object] => [kind, { ...box, position }])),
  ...pictures.flatMap((kind) =>
    ["#fff", "fff", "#FFFF", "#1e90ff", "1E90FF", "#1e90ff80"].flatMap((background): [Kind, object][] => [
      [kind, { ...box, background }],
      [kind, { ...box, background, fit: "contain" }],
    ]),
  ),
  ...[1, 23.976, 60].map((fps): [Kind, object] => ["video", { fps }]),
  ...[1, 12.5, 50].map((fps): [Kind, object] => ["animation", { fps }]),
  ...[0.1, 10, 3600].map((interval): [Kind, object] => ["storyboard", { interval }]),
  ["storyboard", { columns: 1, rows: 20, width: "10%", format: "webp", quality: "high", start: 1, end: 2 }],
  ...[0, 1, 65_535].map((loop): [Kind, object] => ["animation", { loop }]),
  ["video", { overlay: { url: "s3://bucket/a.png", width: "20%", opacity: 0, start: 0, end: 0.1 } }],
  ["image", { overlay: { url: "https://example.com/a.png", position: { x: 0, y: "100%" }, opacity: 0.5 } }],
  ...[300_000, 1_000_000, 60_000_000].map((bitrate): [Kind, object] => ["video", { bitrate }]),
  ...[32_000, 128_000, 320_000].map((bitrate): [Kind, object] => ["audio", { bitrate }]),
  ...all.flatMap((kind) => [0, 0.001, 10_000_000].map((start): [Kind, object] => [kind, { start }])),
  ...timed.flatMap((kind) => [0.001, 10_000_000].map((end): [Kind, object] => [kind, { end }])),
  ...timed.map((kind): [Kind, object] => [kind, { start: 1, end: 1.001 }]),
];

test.each(accepted)("%s accepts %o unchanged", (kind, options) => {
  expect(parseOptions(kind, options)).toEqual(options);
});

const wrongNumbers = ["5", null, true, [], {}] as const;

const rejected: [Kind, object, string, string][] = [
  ...all.flatMap((kind): [Kind, object, string, string][] => [
    [kind, { format: "doc" }, "invalid_format", "format"],
    [kind, { format: "MP4" }, "invalid_format", "format"],
    [kind, { format: "" }, "invalid_format", "format"],
    [kind, { format: 4 }, "request_invalid", "format"],
    [kind, { format: null }, "request_invalid", "format"],
    [kind, { quality: "best" }, "invalid_options", "quality"],
    [kind, { quality: 23 }, "request_invalid", "quality"],
    [kind, { start: -0.001 }, "invalid_options", "start"],
    [kind, { start: 10_000_001 }, "invalid_options", "start"],
    ...wrongNumbers.map((start): [Kind, object, string, string] => [
      kind,
      { start },
      "request_invalid",
      "start",
    ]),
    [kind, { preset: "fast" }, "request_invalid", "preset"],
    [kind, { toString: 1 }, "request_invalid", "toString"],
  ]),
  ["video", { format: "mp3" }, "invalid_format", "format"],
  ["audio", { format: "mp4" }, "invalid_format", "format"],
  ["image", { format: "mp4" }, "invalid_format", "format"],
  ["adaptive_video", { format: "smooth" }, "invalid_format", "format"],
  ["adaptive_video", { format: "dash", i_frames: true }, "invalid_options", "i_frames"],
  ["adaptive_video", { i_frames: 1 }, "request_invalid", "i_frames"],
  ["adaptive_video", { codecs: ["h265"] }, "invalid_options", "codecs"],
  ["adaptive_video", { codecs: ["h264", "h265", "hevc"] }, "invalid_options", "codecs"],
  ["adaptive_video", { codecs: ["h264", "vp9"] }, "invalid_options", "codecs.1"],
  ["video", { codec: "mpeg4" }, "invalid_codec", "codec"],
  ["video", { codec: "H264" }, "invalid_codec", "codec"],
  ["video", { codec: 264 }, "request_invalid", "codec"],
  ["audio", { codec: "mp3" }, "request_invalid", "codec"],
  ["image", { codec: "av1" }, "request_invalid", "codec"],
  ["adaptive_video", { codec: "h264" }, "request_invalid", "codec"],
  ...pictures.flatMap((kind): [Kind, object, string, string][] =>
    ["width", "height"].flatMap((side): [Kind, object, string, string][] => [
      ...[
        0,
        -1,
        1.5,
        16_385,
        1e300,
        "0%",
        "0.9%",
        "1000.1%",
        "50",
        "50 %",
        "-5%",
        "%",
        "",
        "1e2%",
        "50px",
      ].map((size): [Kind, object, string, string] => [kind, { [side]: size }, "invalid_options", side]),
      ...[null, true, [640], {}].map((size): [Kind, object, string, string] => [
        kind,
        { [side]: size },
        "request_invalid",
        side,
      ]),
    ]),
  ),
  ...pictures.flatMap((kind): [Kind, object, string, string][] => [
    [kind, { ...box, fit: "stretch" }, "invalid_options", "fit"],
    [kind, { ...box, fit: 1 }, "request_invalid", "fit"],
    [kind, { fit: "cover" }, "invalid_options", "fit"],
    [kind, { fit: "fill", width: 10 }, "invalid_options", "fit"],
    [kind, { fit: "contain", height: 10 }, "invalid_options", "fit"],
    [kind, { ...box, position: "middle" }, "invalid_options", "position"],
    [kind, { ...box, position: 5 }, "request_invalid", "position"],
    ...["red", "#ff", "#fffff", "#ggg", "", "#1e90ff8"].map((background): [Kind, object, string, string] => [
      kind,
      { ...box, background },
      "invalid_options",
      "background",
    ]),
    [kind, { ...box, background: 0 }, "request_invalid", "background"],
    [kind, { background: "#000" }, "invalid_options", "background"],
    [kind, { ...box, background: "#000", fit: "cover" }, "invalid_options", "background"],
    [kind, { ...box, background: "#000", fit: "fill" }, "invalid_options", "background"],
  ]),
  ...(["width", "height", "fit", "position", "background", "fps"] as const).map(
    (name): [Kind, object, string, string] => ["audio", { [name]: 1 }, "request_invalid", name],
  ),
  ...[0.9, 50.1].map((fps): [Kind, object, string, string] => [
    "animation",
    { fps },
    "invalid_options",
    "fps",
  ]),
  ...[-1, 1.5, 65_536].map((loop): [Kind, object, string, string] => [
    "animation",
    { loop },
    "invalid_options",
    "loop",
  ]),
  ...[0.09, 3601].map((interval): [Kind, object, string, string] => [
    "storyboard",
    { interval },
    "invalid_options",
    "interval",
  ]),
  ...[0, 21, 2.5].map((columns): [Kind, object, string, string] => [
    "storyboard",
    { columns },
    "invalid_options",
    "columns",
  ]),
  ...(
    [
      [{ opacity: 1.1 }, "invalid_options", "opacity"],
      [{ opacity: "1" }, "request_invalid", "opacity"],
      [{ width: 0 }, "invalid_options", "width"],
      [{ position: "middle" }, "invalid_options", "position"],
      [{ position: { x: -1 } }, "invalid_options", "position.x"],
      [{ start: 2, end: 2 }, "invalid_options", "end"],
      [{ end: 0 }, "invalid_options", "end"],
      [{ height: 10 }, "request_invalid", "height"],
      [{ url: 5 }, "request_invalid", "url"],
      [{ url: "logo.png" }, "invalid_options", "url"],
      [{ url: undefined }, "invalid_options", "url"],
    ] as const
  ).map(([fields, fault, name]): [Kind, object, string, string] => [
    "video",
    { overlay: { url: "https://example.com/logo.png", ...fields } },
    fault,
    `overlay.${name}`,
  ]),
  ["video", { mode: "copy", overlay: { url: "https://example.com/a.png" } }, "invalid_options", "overlay"],
  ["video", { overlay: "https://example.com/a.png" }, "request_invalid", "overlay"],
  ["image", { overlay: { url: "https://example.com/a.png", start: 0 } }, "request_invalid", "overlay.start"],
  ["audio", { overlay: { url: "https://example.com/a.png" } }, "request_invalid", "overlay"],
  ["storyboard", { rows: 0 }, "invalid_options", "rows"],
  ["storyboard", { rows: "5" }, "request_invalid", "rows"],
  ["storyboard", { width: 0 }, "invalid_options", "width"],
  ["storyboard", { start: 2, end: 1 }, "invalid_options", "end"],
  ["storyboard", { format: "png" }, "invalid_format", "format"],
  ["storyboard", { height: 90 }, "request_invalid", "height"],
  ["animation", { loop: "3" }, "request_invalid", "loop"],
  ["animation", { format: "png" }, "invalid_format", "format"],
  ["animation", { mute: true }, "request_invalid", "mute"],
  ...[199, 1.5, 1_000_000_001].map((max_bytes): [Kind, object, string, string] => [
    "image",
    { max_bytes },
    "invalid_options",
    "max_bytes",
  ]),
  ...[0, -1, 0.05, 3601].map((interval): [Kind, object, string, string] => [
    "image",
    { interval },
    "invalid_options",
    "interval",
  ]),
  ...[0, 501, 2.5].map((count): [Kind, object, string, string] => [
    "image",
    { count },
    "invalid_options",
    "count",
  ]),
  ["image", { count: 3, interval: 1 }, "invalid_options", "count"],
  ["image", { count: 3, max_bytes: 1000 }, "invalid_options", "max_bytes"],
  ["image", { quality: "auto", max_bytes: 1000 }, "invalid_options", "max_bytes"],
  ["image", { interval: 3, format: "gif" }, "invalid_format", "format"],
  ["image", { count: "3" }, "request_invalid", "count"],
  ["image", { max_bytes: "10 kB" }, "request_invalid", "max_bytes"],
  ["image", { end: 1 }, "request_invalid", "end"],
  ["image", { fps: 1 }, "request_invalid", "fps"],
  ["image", { bitrate: 300_000 }, "request_invalid", "bitrate"],
  ["adaptive_video", { fps: 30 }, "request_invalid", "fps"],
  ["adaptive_video", { bitrate: 300_000 }, "request_invalid", "bitrate"],
  ...[0, 0.999, 60.001, -30].map((fps): [Kind, object, string, string] => [
    "video",
    { fps },
    "invalid_options",
    "fps",
  ]),
  ...wrongNumbers.map((fps): [Kind, object, string, string] => ["video", { fps }, "request_invalid", "fps"]),
  ...[299_999, 60_000_001, 300_000.5, -1, 0].map((bitrate): [Kind, object, string, string] => [
    "video",
    { bitrate },
    "invalid_options",
    "bitrate",
  ]),
  ...[31_999, 320_001, 32_000.5, -1, 0].map((bitrate): [Kind, object, string, string] => [
    "audio",
    { bitrate },
    "invalid_options",
    "bitrate",
  ]),
  ...(["video", "audio"] as const).flatMap((kind) =>
    wrongNumbers.map((bitrate): [Kind, object, string, string] => [
      kind,
      { bitrate },
      "request_invalid",
      "bitrate",
    ]),
  ),
  ...timed.flatMap((kind): [Kind, object, string, string][] => [
    [kind, { end: 0 }, "invalid_options", "end"],
    [kind, { end: -1 }, "invalid_options", "end"],
    [kind, { end: 10_000_001 }, "invalid_options", "end"],
    [kind, { start: 5, end: 5 }, "invalid_options", "end"],
    [kind, { start: 5, end: 4.999 }, "invalid_options", "end"],
    ...wrongNumbers.map((end): [Kind, object, string, string] => [kind, { end }, "request_invalid", "end"]),
  ]),
];

test.each(rejected)("%s rejects %o: %s of %s", (kind, options, error, name) => {
  expect(faultOf(() => parseOptions(kind, options))).toEqual([error, `options.${name}`]);
});

test("every pair of format and codec is either in the table or fails with invalid_codec", () => {
  const right = { mp4: ["h264", "h265", "av1"], mov: ["h264", "h265"], webm: ["vp9", "av1"] };
  for (const [format, codecs] of Object.entries(right)) {
    for (const codec of VIDEO_CODECS) {
      const fault = faultOf(() => parseOptions("video", { format, codec }));
      const options = { returned: { format, codec } };
      expect([format, codec, fault]).toEqual([
        format,
        codec,
        codecs.includes(codec) ? options : ["invalid_codec", "options.codec"],
      ]);
    }
  }
  expect(faultOf(() => parseOptions("video", { codec: "vp9" }))).toEqual(["invalid_codec", "options.codec"]);
});

test.each([
  { name: "text", options: "fast" },
  { name: "number", options: 1 },
  { name: "array", options: [] },
  { name: "boolean", options: false },
])("rejects options of type $name", ({ options }) => {
  expect(faultOf(() => parseOptions("video", options))).toEqual(["request_invalid", "options"]);
});

test("reports format and codec first and an unknown option last", () => {
  const options = { more: 1, fps: 0, codec: "x", format: "x" };
  const order: unknown[] = [];
  for (const name of ["format", "codec", "fps", "more"] as const) {
    order.push(faultOf(() => parseOptions("video", options)));
    delete (options as Record<string, unknown>)[name];
  }
  expect(order).toEqual([
    ["invalid_format", "options.format"],
    ["invalid_codec", "options.codec"],
    ["invalid_options", "options.fps"],
    ["request_invalid", "options.more"],
  ]);
});

test("rejects __proto__ as an option", () => {
  const options = JSON.parse('{"__proto__":{"fps":30}}');
  expect(faultOf(() => parseOptions("video", options))).toEqual(["request_invalid", "options.__proto__"]);
});
