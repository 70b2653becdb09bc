import { expect, test } from "vitest";
import { z } from "zod";
import { INPUT_ROLES } from "../../src/media/extra-inputs.ts";
import { ENCODE_KINDS } from "../../src/media/formats.ts";
import { optionControl, optionNames, optionSchemas } from "../../src/media/option-groups.ts";
import type { AudioOptions, VideoOptions } from "../../src/media/option-types.ts";
import type { Source } from "../../src/media/source.ts";
import { audioSource, imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const SOURCE = videoSource({
  ...{ width: 1280, height: 720, coded_width: 1280, coded_height: 720, constant_fps: true },
  streams: [
    { index: 0, kind: "video", codec: "h264", bitrate: 2_000_000 },
    { index: 1, kind: "audio", codec: "aac", bitrate: 127_700, language: "eng" },
  ],
});

const OWN: readonly VideoOptions[] = [
  { format: "mp4" },
  { codec: "h264" },
  { mode: "auto" },
  { parts: [{}] },
  { rotate: 0 },
  { rotate: 180, flip: "both" },
  { crop: "16:9" },
  { crop: { width: "100%", height: "100%" } },
  { crop: { x: 0, y: 0, width: 1280, height: 720 }, position: "left" },
  { width: 1280 },
  { width: "100%" },
  { height: 720 },
  { width: 1280, height: 720 },
  { width: 1280, height: 720, fit: "contain" },
  { width: 1280, height: 720, fit: "cover", position: "top" },
  { width: 1280, height: 720, fit: "fill" },
  { width: 1280, height: 720, background: "#ff0000" },
  { enlarge: true },
  { enlarge: false, width: 1920 },
  { enlarge: false, width: 1920, height: 1080, fit: "contain" },
  { enlarge: false, height: "200%" },
  { fps: 25 },
  { bitrate: 2_000_000 },
  { audio_codec: "aac" },
  { audio_bitrate: 128_000 },
  { mute: false },
  { track: 0 },
  { track: "eng" },
  { channels: 2 },
  { sample_rate: 48_000 },
  { volume: 1 },
  { normalize: false },
  { fade_in: 0, fade_out: 0 },
  { picture_fade_in: 0, picture_fade_out: 0 },
  { start: 0 },
  { end: 10 },
  { start: 0, end: 12 },
  { speed: 1 },
  { partial: true },
  { metadata: "clean" },
];

test.for(OWN)("%o of a source that has it already is a copy", (options) => {
  const plan = createPlan(SOURCE, "video", options);
  expect(plan).toEqual(createPlan(SOURCE, "video", {}));
  expect([plan.video?.mode, plan.audio?.mode]).toEqual(["copy", "copy"]);
});

// Rates in pixels, frames and seconds remain those of the source when another option needs an encode.
test.for(OWN.filter((options) => options.bitrate === undefined && options.audio_bitrate === undefined))(
  "%o changes nothing in an encode either",
  (options) => {
    const encoded = createPlan(SOURCE, "video", { quality: "high" });
    expect(createPlan(SOURCE, "video", { ...options, quality: "high" })).toEqual(encoded);
  },
);

test("every option is at the source's own value above, or has none", () => {
  // `quality` asks for an encode; the others add something, or set how something is added.
  const others = [
    "quality",
    "target_size",
    "target_lufs",
    "denoise",
    "overlay",
    "text",
    "fonts",
    "concat",
    "transition",
    "subtitles",
  ];
  const own = new Set(OWN.flatMap((options) => Object.keys(options)));
  expect(optionNames("video").filter((name) => !own.has(name) && !others.includes(name))).toEqual([]);
});

test("every option that names files is an extra input", () => {
  const names = ENCODE_KINDS.flatMap((kind) =>
    Object.entries<z.ZodType>(optionSchemas(kind)).flatMap(([name, schema]) => {
      const json = z.toJSONSchema(schema, { io: "input" });
      const item = typeof json.items === "object" && !Array.isArray(json.items) ? json.items : json;
      return item.properties?.url === undefined ? [] : [name];
    }),
  );
  expect([...new Set(names)].sort()).toEqual([...INPUT_ROLES].sort());
});

test("a form offers the fields of an object or a list, with their types", () => {
  expect(optionControl("video", "parts", undefined).objects).toEqual({
    fields: [
      { name: "start", label: "Part from", type: "number", example: undefined, choices: null },
      { name: "end", label: "Part to", type: "number", example: undefined, choices: null },
    ],
    max: 500,
  });
  expect(optionControl("video", "fonts", undefined).objects).toEqual({
    fields: [
      {
        name: "url",
        label: "Font",
        type: "url",
        example: "https://example.com/noto-sans-thai.ttf",
        choices: null,
      },
    ],
    max: 8,
  });
  expect(optionControl("image", "overlay", undefined).objects).toMatchObject({
    fields: [{ name: "url" }, { name: "position" }, { name: "width", type: "length" }, { name: "opacity" }],
    max: null,
  });
});

const ENCODED: readonly { name: string; source: Source; options: VideoOptions }[] = [
  { name: "the average of uneven frames", source: videoSource(), options: { fps: 25 } },
  { name: "a slower video's own rate", source: SOURCE, options: { fps: 25, speed: 0.5 } },
  { name: "half a turn", source: SOURCE, options: { flip: "both" } },
  { name: "one pixel less", source: SOURCE, options: { width: 1279 } },
  { name: "one stated pixel less", source: SOURCE, options: { crop: { x: 1, width: 1279, height: 720 } } },
  { name: "a higher bitrate", source: SOURCE, options: { bitrate: 3_000_000 } },
  {
    name: "the size as stored, not as displayed",
    source: videoSource({ coded_width: 1440, sample_aspect_ratio: "4:3" }),
    options: { width: 1440 },
  },
];

test.for(ENCODED)("encodes for $name", ({ source, options }) => {
  expect(createPlan(source, "video", options).video?.mode).toBe("encode");
});

test("a copy keeps odd sides, which an encode would not", () => {
  const odd = videoSource({ width: 641, height: 427, coded_width: 641, coded_height: 427 });
  expect(createPlan(odd, "video", { width: 641 }).video).toEqual({
    mode: "copy",
    codec: "h264",
    width: 641,
    height: 427,
  });
  expect(createPlan(odd, "video", { width: 640 }).video?.mode).toBe("encode");
});

const SOUND = audioSource({
  ...{ format: "mp3", codecs: { video: null, audio: "mp3" } },
  streams: [{ index: 0, kind: "audio", codec: "mp3", bitrate: 128_000 }],
});
const OWN_SOUND: readonly AudioOptions[] = [
  { format: "mp3" },
  { bitrate: 128_000 },
  { channels: 2 },
  { sample_rate: 44_100 },
  { track: 0 },
  { volume: 1, normalize: false, fade_in: 0, fade_out: 0 },
  { start: 0, end: 10 },
  { parts: [{ end: 5 }, { start: 5 }] },
  { speed: 1 },
  { partial: true },
];

test.for(OWN_SOUND)("%o of sound that has it already is a copy", (options) => {
  const plan = createPlan(SOUND, "audio", options);
  expect(plan).toEqual(createPlan(SOUND, "audio", {}));
  expect(plan.audio?.mode).toBe("copy");
});

test.for([
  { format: "aac", codec: "aac", container: "mp4" },
  { format: "ogg", codec: "vorbis", container: "ogg" },
  { format: "opus", codec: "opus", container: "ogg" },
  { format: "flac", codec: "flac", container: "flac" },
  { format: "wav", codec: "pcm_s16le", container: "wav" },
] as const)("$format with its own values is a copy", ({ format, codec, container }) => {
  const source = audioSource({
    ...{ format: container, codecs: { video: null, audio: codec } },
    audio: { channels: 2, sample_rate: 48_000 },
    streams: [{ index: 0, kind: "audio", codec, bitrate: 128_000 }],
  });
  const own = { channels: 2, sample_rate: 48_000, volume: 1, speed: 1, start: 0, end: 10, track: 0 } as const;
  for (const options of [{}, own, { bitrate: 128_000 }]) {
    expect(createPlan(source, "audio", { format, ...options }).audio).toEqual({ mode: "copy", codec });
  }
});

const PHOTO = imageSource();
const MOVING = imageSource({ format: "gif", animated: true, duration: 2, fps: 10, width: 400, height: 300 });
const SIZES = [
  { width: 400 },
  { height: 300 },
  { width: "100%" },
  { width: 400, height: 300, fit: "cover" },
  { rotate: 0 },
  { crop: "4:3" },
  { enlarge: false, width: 800 },
] as const;

test.for(SIZES)("%o changes nothing in a picture that already has it", (options) => {
  expect(createPlan(PHOTO, "image", options)).toEqual(createPlan(PHOTO, "image", {}));
  expect(createPlan(MOVING, "animation", options)).toEqual(createPlan(MOVING, "animation", {}));
});

test.for([{ start: 0 }, { start: 0, end: 2 }])(
  "%o of an animation of two seconds changes nothing",
  (options) => {
    expect(createPlan(MOVING, "animation", options)).toEqual(createPlan(MOVING, "animation", {}));
  },
);
