import { expect, test } from "vitest";
import { faultOf } from "./fault.ts";
import { parseOptions } from "./parse-options.ts";

// Each option has a value beyond its bounds, one of another type, and the field that the error names.
const BAD = {
  video: {
    invalid_options: [
      [{ rotate: 45 }],
      [{ flip: "up" }],
      ...["16-9", "0:9", "", { width: 10 }].map((crop) => [{ crop }] as const),
      [{ crop: { x: -1, width: 10, height: 10 } }, "crop.x"],
      [{ crop: { width: 0, height: 10 } }, "crop.width"],
      ...[1000, 10_000_000].map((audio_bitrate) => [{ audio_bitrate }] as const),
      ...[0, 1.5].map((target_size) => [{ target_size }] as const),
      ...[0, 101].map((speed) => [{ speed }] as const),
    ],
    request_invalid: [[{ rotate: "90" }], [{ flip: true }], [{ crop: 1 }], [{ target_size: "1 MB" }]],
  },
  image: { invalid_options: [[{ rotate: -90 }]], request_invalid: [[{ rotate: true }]] },
  audio: {
    invalid_options: [
      [{ fade_in: -1 }],
      [{ fade_out: 3601 }],
      ...[-71, 0].map((target_lufs) => [{ target_lufs, normalize: true }] as const),
      ...[-1, 101].map((volume) => [{ volume }] as const),
      ...[0, 1.5, 9].map((channels) => [{ channels }] as const),
      ...[7999, 44_100.5].map((sample_rate) => [{ sample_rate }] as const),
    ],
    request_invalid: [[{ fade_in: "2" }], [{ normalize: "yes" }], [{ speed: "2" }], [{ target_size: 100 }]],
  },
  animation: { invalid_options: [[{ loop: -1 }], [{ fps: 51 }]], request_invalid: [[{ fps: "25" }]] },
  storyboard: {
    invalid_options: [[{ columns: 21 }], [{ interval: 0 }]],
    request_invalid: [[{ columns: "5" }]],
  },
} as const;

for (const [kind, faults] of Object.entries(BAD)) {
  for (const [fault, cases] of Object.entries(faults)) {
    test.for(cases as readonly (readonly [object, string?])[])(
      `${kind} refuses %j as ${fault}`,
      ([options, name = Object.keys(options)[0]]) => {
        const actual = faultOf(() => parseOptions(kind as keyof typeof BAD, { ...options }));
        expect(actual).toEqual([fault, `options.${name}`]);
      },
    );
  }
}

// A form sends untouched fields like this.
test.for([
  { kind: "video", options: { mode: "copy", speed: 1, volume: 1, normalize: false, start: 0, track: 0 } },
  {
    kind: "video",
    options: { concat: [{ url: "https://example.com/b.mp4" }], start: 0, speed: 1, track: 0 },
  },
  { kind: "video", options: { mute: true, normalize: false, volume: 1, fade_in: 0, track: 0 } },
  { kind: "audio", options: { normalize: true, volume: 1 } },
] as const)(
  "$kind accepts the default of an option where another option excludes other values: $options",
  ({ kind, options }) => {
    expect(parseOptions(kind, options)).toEqual(options);
  },
);
