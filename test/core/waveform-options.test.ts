import { expect, test } from "vitest";
import { parseTaskRequest } from "../../src/runs/requests.ts";

const parse = (options: object) =>
  parseTaskRequest({ input: "https://e.org/a", kind: "waveform", options }).options;

test.each([
  {},
  ...[2, 256, 10_000_000].map((samples_per_pixel) => ({ samples_per_pixel })),
  { format: "dat", pixels_per_second: 24_000, bits: 8, split_channels: true, track: "en" },
  { points: 1_000_000, bits: 16, start: 1, end: 2 },
  { format: "png", width: 1, height: 16_384, waveform_color: "#f80", background_color: "#0000" },
  { format: "png", samples_per_pixel: 512 },
])("a waveform accepts %o unchanged", (options) => {
  expect(parse(options)).toEqual(options);
});

test.each<[object, string, string]>([
  ...[1, 2.5, 10_000_001].map((samples_per_pixel): [object, string, string] => [
    { samples_per_pixel },
    "invalid_options",
    "samples_per_pixel",
  ]),
  [{ pixels_per_second: 0 }, "invalid_options", "pixels_per_second"],
  [{ samples_per_pixel: 256, pixels_per_second: 10 }, "invalid_options", "pixels_per_second"],
  [{ points: 10, pixels_per_second: 10 }, "invalid_options", "points"],
  [{ bits: 12 }, "invalid_options", "bits"],
  [{ bits: "8" }, "request_invalid", "bits"],
  [{ split_channels: 1 }, "request_invalid", "split_channels"],
  [{ width: 800 }, "invalid_options", "width"],
  [{ format: "dat", waveform_color: "#fff" }, "invalid_options", "waveform_color"],
  [{ format: "png", bits: 8 }, "invalid_options", "bits"],
  [{ format: "png", points: 8 }, "invalid_options", "points"],
  [{ format: "png", width: "50%" }, "request_invalid", "width"],
  [{ format: "png", background_color: "white" }, "invalid_options", "background_color"],
  [{ format: "svg" }, "invalid_format", "format"],
  [{ start: 2, end: 1 }, "invalid_options", "end"],
  [{ quality: "high" }, "request_invalid", "quality"],
])("a waveform rejects %o: %s of %s", (options, kind, name) => {
  expect(() => parse(options)).toThrow(expect.objectContaining({ kind, param: `options.${name}` }));
});
