import { expect, test } from "vitest";
import { faultOf } from "./fault.ts";
import { parseOptions } from "./parse-options.ts";

const url = "https://example.com/b.mp4";

test("video accepts one to nine videos to play after the input", () => {
  for (const concat of [[{ url }], [{ url, start: 1, end: 2 }], Array.from({ length: 9 }, () => ({ url }))]) {
    expect(parseOptions("video", { concat, width: 320, volume: 2 })).toEqual({
      concat,
      width: 320,
      volume: 2,
    });
  }
});

test("video joins by copy in mode copy", () => {
  const options = { concat: [{ url }], mode: "copy", mute: true };
  expect(parseOptions("video", options)).toEqual(options);
});

test.for([
  { options: { concat: { url } }, kind: "request_invalid", name: "concat" },
  { options: { concat: [] }, kind: "invalid_options", name: "concat" },
  {
    options: { concat: Array.from({ length: 10 }, () => ({ url })) },
    kind: "invalid_options",
    name: "concat",
  },
  { options: { concat: [{ url: "b.mp4" }] }, kind: "invalid_options", name: "concat.0.url" },
  { options: { concat: [{ url }, {}] }, kind: "invalid_options", name: "concat.1.url" },
  { options: { concat: [{ url, from: 1 }] }, kind: "request_invalid", name: "concat.0.from" },
  { options: { concat: [{ url, start: 2, end: 1 }] }, kind: "invalid_options", name: "concat.0.end" },
  { options: { concat: [{ url }], parts: [{ end: 1 }] }, kind: "invalid_options", name: "parts" },
  { options: { concat: [{ url }], speed: 2 }, kind: "invalid_options", name: "speed" },
  { options: { concat: [{ url }], crop: "1:1" }, kind: "invalid_options", name: "crop" },
  { options: { concat: [{ url }], rotate: 90 }, kind: "invalid_options", name: "rotate" },
  { options: { concat: [{ url }], track: 1 }, kind: "invalid_options", name: "track" },
  { options: { concat: [{ url }], normalize: true }, kind: "invalid_options", name: "normalize" },
  { options: { concat: [{ url }], overlay: { url } }, kind: "invalid_options", name: "overlay" },
] as const)("$options is refused", ({ options, kind, name }) => {
  expect(faultOf(() => parseOptions("video", options))).toEqual([kind, `options.${name}`]);
});
