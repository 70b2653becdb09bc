import { expect, test } from "vitest";
import { faultOf } from "./fault.ts";
import { parseOptions } from "./parse-options.ts";

const url = "https://example.com/b.mp4";

test("video accepts one to nine videos to play after the input", () => {
  for (const concat of [[{ url }], Array.from({ length: 9 }, () => ({ url }))]) {
    expect(parseOptions("video", { concat, width: 320, volume: 2 })).toEqual({
      concat,
      width: 320,
      volume: 2,
    });
  }
});

test("video copies what it joins where a copy is asked for", () => {
  const options = { concat: [{ url }], mode: "copy", mute: true };
  expect(parseOptions("video", options)).toEqual(options);
});

test.for([
  [{ concat: { url } }, "request_invalid", "concat"],
  [{ concat: [] }, "invalid_options", "concat"],
  [{ concat: Array.from({ length: 10 }, () => ({ url })) }, "invalid_options", "concat"],
  [{ concat: [{ url: "b.mp4" }] }, "invalid_options", "concat.0.url"],
  [{ concat: [{ url }, {}] }, "invalid_options", "concat.1.url"],
  [{ concat: [{ url, start: 1 }] }, "request_invalid", "concat.0.start"],
  [{ concat: [{ url }], start: 1 }, "invalid_options", "start"],
  [{ concat: [{ url }], end: 1 }, "invalid_options", "end"],
  [{ concat: [{ url }], speed: 2 }, "invalid_options", "speed"],
  [{ concat: [{ url }], crop: "1:1" }, "invalid_options", "crop"],
  [{ concat: [{ url }], rotate: 90 }, "invalid_options", "rotate"],
  [{ concat: [{ url }], track: 1 }, "invalid_options", "track"],
  [{ concat: [{ url }], normalize: true }, "invalid_options", "normalize"],
  [{ concat: [{ url }], overlay: { url } }, "invalid_options", "overlay"],
] as const)("%o is refused", ([options, kind, name]) => {
  expect(faultOf(() => parseOptions("video", options))).toEqual([kind, `options.${name}`]);
});
