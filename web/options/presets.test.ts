import { expect, test } from "vitest";
import type { Source } from "../../src/index.ts";
import { checkSettings, withFormat } from "./check-settings.ts";
import { kindsFor, withKind, withOptions } from "./choices.ts";
import { defaultSettings } from "./default-settings.ts";
import { fromPreset, PRESET_BOUNDS, PRESETS, type Preset, parsePresets, sameFor } from "./presets.ts";

const source = (facts: Partial<Source>): Source => ({
  ...{ object: "source", url: "https://example.com/file", kind: "video", format: "mp4" },
  ...facts,
});
const videoSource = (changes: Partial<Source> = {}) =>
  source({
    ...{ width: 1920, height: 1080, duration: 10, fps: 25, codecs: { video: "h264", audio: "aac" } },
    ...changes,
  });
const imageSource = (changes: Partial<Source> = {}) =>
  source({
    ...{ kind: "image", format: "png", width: 400, height: 300, codecs: { video: "png", audio: null } },
    ...changes,
  });
const audioSource = () =>
  source({ kind: "audio", format: "wav", duration: 10, codecs: { video: null, audio: "pcm_s16le" } });

test.for([
  {
    name: "a video",
    source: videoSource(),
    kinds: ["video", "audio", "image", "animation", "storyboard", "waveform", "adaptive_video"],
  },
  {
    name: "a silent video",
    source: videoSource({ codecs: { video: "h264", audio: null } }),
    kinds: ["video", "image", "animation", "storyboard", "adaptive_video"],
  },
  { name: "a sound", source: audioSource(), kinds: ["audio", "waveform", "adaptive_video"] },
  { name: "a picture", source: imageSource(), kinds: ["image"] },
  { name: "an animation", source: imageSource({ animated: true }), kinds: ["image", "animation", "video"] },
] as const)(
  "$name offers the kinds that make sense, and every preset of these is valid for it",
  ({ source, kinds }) => {
    expect(kindsFor(source)).toEqual(kinds);
    // Long enough for 20 MB to constrain the bitrate.
    const lasting = source.duration ? { ...source, duration: 60 } : source;
    for (const preset of PRESETS.filter(({ kind }) => kinds.includes(kind as never))) {
      const withDuration =
        preset.kind === "video" && !lasting.duration ? { ...lasting, duration: 60 } : lasting;
      const settings = fromPreset(preset, defaultSettings(source), withDuration);
      expect(checkSettings(settings, withDuration).fault).toBeNull();
      expect(settings).toMatchObject({ kind: preset.kind, preset: preset.id, place: "device" });
    }
  },
);

test("the intact part of a file that is cut off is converted, also with a preset", () => {
  const source = videoSource({ truncated: true });
  const settings = defaultSettings(source);
  expect(settings.options).toEqual({ partial: true });
  expect(fromPreset(PRESETS[0], settings, source).options).toMatchObject({ format: "mp4", partial: true });
});

test("a preset never enlarges, and keeps the trim", () => {
  const [web] = PRESETS;
  const trimmed = withOptions(defaultSettings(videoSource()), { start: 2, end: 4 });
  const of = (width: number, height: number) =>
    fromPreset(web, trimmed, videoSource({ width, height })).options;
  const plain = { format: "mp4", quality: "medium", enlarge: false, start: 2, end: 4 };
  expect(of(3840, 2160)).toEqual({ ...plain, height: 1080 });
  expect(of(2160, 3840)).toEqual({ ...plain, width: 1080 });
  expect(of(640, 360)).toEqual(plain);
});

test.for([
  {
    kind: "adaptive_video",
    options: { subtitles: [{ url: "https://example.com/a.srt" }], track: 1 },
    source: audioSource(),
  },
  { kind: "video", options: { track: 1 }, source: videoSource({ codecs: { video: "h264", audio: null } }) },
  { kind: "image", options: { interval: 1, count: 3 }, source: imageSource() },
] as const)(
  "a preset of $kind with $options leaves out what a file has nothing for",
  ({ kind, options, source }) => {
    const own = {
      ...{ id: "own", name: "Own", purpose: "", kind, options: { ...options, quality: "high" } },
      target_size: null,
    } as Preset;
    const before = defaultSettings(source);
    const settings = fromPreset(own, before, source);
    expect(settings).toEqual({ ...before, kind, options: { quality: "high" }, preset: "own" });
    expect(checkSettings(settings, source).fault).toBeNull();
  },
);

test("options applied to another file adapt to its size, and keep its trim", () => {
  const [web] = PRESETS;
  const wide = fromPreset(web, defaultSettings(videoSource()), videoSource({ width: 3840, height: 2160 }));
  expect(wide.options).toMatchObject({ height: 1080 });
  const upright = videoSource({ width: 2160, height: 3840 });
  const other = { settings: withOptions(defaultSettings(upright), { start: 2, end: 4 }), source: upright };
  const plain = { format: "mp4", quality: "medium", enlarge: false, start: 2, end: 4 };
  expect(sameFor({ ...wide, place: "edge" }, PRESETS, other)).toEqual({
    ...{ kind: "video", options: { ...plain, width: 1080 }, target_size: null, preset: web.id },
    ...{ place: "edge", fault: null, lowered: null },
  });
  const own = withOptions(wide, { height: 700, start: 1 });
  expect(sameFor(own, PRESETS, other)).toMatchObject({ options: { ...plain, height: 700 }, preset: null });
  const late = { ...other, source: videoSource({ duration: 1 }) };
  expect(sameFor(wide, PRESETS, late).fault?.kind).toBe("invalid_options");
});

test("a fault of the file size names its field", () => {
  const empty = { ...defaultSettings(videoSource()), target_size: Number.NaN };
  expect(checkSettings(empty, videoSource()).fault).toEqual({
    ...{ kind: "invalid_options", field: "target_size" },
    message: "The file size must be a number above 0.",
  });
});

test("a change of kind keeps the options that apply to it", () => {
  const settings = withOptions(defaultSettings(videoSource()), {
    format: "webm",
    width: 640,
    fps: 12,
    start: 1,
    end: 2,
  });
  const sized = { ...settings, target_size: 1e6, preset: "mail" };
  expect(withKind("audio", sized)).toEqual({
    ...{ ...settings, kind: "audio", options: { start: 1, end: 2 }, target_size: 1e6, preset: null },
  });
  expect(withKind("image", sized)).toMatchObject({ options: { width: 640, start: 1 }, target_size: null });
});

test.for([
  {
    kind: "video",
    format: "webm",
    options: { codec: "h265", audio_codec: "mp3", sample_rate: 22_050, width: 640 },
    kept: { width: 640 },
  },
  { kind: "video", format: "webm", options: { mode: "copy", end: 5 }, kept: { end: 5 } },
  { kind: "waveform", format: "png", options: { bits: 8, points: 800, start: 1 }, kept: { start: 1 } },
  {
    kind: "waveform",
    format: "dat",
    options: { format: "png", width: 640, height: 90, waveform_color: "#123456" },
    kept: {},
  },
  { kind: "adaptive_video", format: "dash", options: { i_frames: true, mute: true }, kept: { mute: true } },
  // It was at fault before.
  { kind: "video", format: "mov", options: { width: -1 }, kept: { width: -1 } },
] as const)(
  "$kind in $format takes back all of $options that it rules out",
  ({ kind, format, options, kept }) => {
    const settings = withOptions({ ...defaultSettings(videoSource()), kind }, options);
    expect(withFormat(settings, format, videoSource()).options).toEqual({ format, ...kept });
  },
);

test.for([
  { options: { codec: "vp9" }, field: "codec", message: "mp4 cannot hold vp9 here; use h264, h265, av1." },
  {
    options: { bitrate: 1 },
    field: "bitrate",
    message: "Bitrate must be a number from 300 to 60000 kbit/s.",
  },
  { options: { fps: Number.NaN }, field: "fps", message: "Frames per second must be a number from 1 to 60." },
  { options: { fit: "cover" }, field: "fit", message: "Fit needs both width and height." },
  {
    options: { start: 20 },
    field: "start",
    message: "Start (20) must be before the end of the source (10 s).",
  },
] as const)("rejects $options at $field with the page's own message", ({ options, field, message }) => {
  const { fault } = checkSettings(withOptions(defaultSettings(videoSource()), options), videoSource());
  expect(fault).toMatchObject({ field, message });
});

const good = { id: "a", name: "Small", kind: "image", options: { width: "50%" }, target_size: null };
const parsed = { ...good, purpose: "" };

test("parses stored presets", () => {
  const sized = { ...good, id: "b", kind: "video", options: {}, target_size: 2e6 };
  expect(parsePresets(JSON.stringify([good, sized]))).toEqual([parsed, { ...sized, purpose: "" }]);
  expect(parsePresets(null)).toEqual([]);
});

test.for([
  "",
  "{",
  "null",
  "3",
  '{"length":1}',
  "[null, 3, [], {}]",
  JSON.stringify([{ ...good, id: 3 }]),
  JSON.stringify([{ ...good, id: "x".repeat(101) }]),
  JSON.stringify([{ ...good, name: " " }]),
  JSON.stringify([{ ...good, name: "x".repeat(PRESET_BOUNDS.name + 1) }]),
  JSON.stringify([{ ...good, kind: "upload" }]),
  JSON.stringify([{ ...good, kind: "toString" }]),
  JSON.stringify([{ ...good, options: { codec: "h264" } }]),
  JSON.stringify([{ ...good, options: { width: -1 } }]),
  JSON.stringify([{ ...good, options: [] }]),
  JSON.stringify([{ ...good, target_size: "20" }]),
  JSON.stringify([{ ...good, target_size: -1 }]),
])("drops invalid presets: %s", (text) => {
  expect(parsePresets(text)).toEqual([]);
});

test("keeps the valid presets among others, up to the maximum", () => {
  expect(parsePresets(JSON.stringify([null, good, 7]))).toEqual([parsed]);
  expect(parsePresets(JSON.stringify(Array(PRESET_BOUNDS.count + 9).fill(good)))).toHaveLength(
    PRESET_BOUNDS.count,
  );
});

test("every preset with pictures has enlarge: false", () => {
  const pictured: readonly Preset[] = PRESETS.filter(({ kind }) => kind !== "audio");
  expect(pictured.map(({ id, options }) => [id, options.enlarge])).toEqual(
    ["web-video", "mail", "hls", "web-picture", "thumbnail"].map((id) => [id, false]),
  );
});
