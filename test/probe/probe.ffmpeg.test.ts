import { expect, test } from "vitest";
import { type ErrorKind, MediaError } from "../../src/media/errors.ts";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import type { Source } from "../../src/media/source.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import { CLIP_NAMES, type ClipName, clip } from "../fixtures/clips.ts";
import { heAacClip } from "../fixtures/he-aac.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { lateVideo } from "../judge/tags.ts";
import { diskReader, nativeFfprobe, probeFile } from "./probe-file.ts";

const words = (text: string) => text.split(" ");
const PICTURES = words("-f lavfi -i testsrc2=size=160x90:rate=25:duration=1");
const SOUND = words("-f lavfi -i sine=duration=1:sample_rate=48000");
const H264 = words("-c:v libx264 -preset ultrafast");
const H265 = words("-c:v libx265 -preset ultrafast -x265-params log-level=none:pools=1");
const VP9 = words("-c:v libvpx-vp9 -deadline realtime -cpu-used 8");
const AV1 = words("-c:v libaom-av1 -cpu-used 8 -usage realtime");
const BT709 = words("-color_primaries bt709 -color_trc bt709 -colorspace bt709 -color_range tv");
const HLG = words("-color_primaries bt2020 -color_trc arib-std-b67 -colorspace bt2020nc -color_range tv");
const HLG_STREAM = "log-level=none:pools=1:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc";

// Files besides the shared clips, each with a fact that headers may get wrong.
const MORE: Record<string, readonly string[]> = {
  "H.264 4:2:2": ["mp4", ...PICTURES, ...H264, "-pix_fmt", "yuv422p"],
  "H.264 of full range": ["mp4", ...PICTURES, ...H264, "-pix_fmt", "yuvj420p"],
  "H.264 in BT.709": ["mp4", ...PICTURES, ...H264, "-pix_fmt", "yuv420p", ...BT709],
  "H.264 in BT.709 without a colr box": [
    ...["mkv", ...PICTURES, ...H264, "-pix_fmt", "yuv420p"],
    ...words("-x264-params colorprim=bt709:transfer=bt709:colormatrix=bt709"),
  ],
  "H.264 gray": ["mp4", ...PICTURES, ...H264, "-pix_fmt", "gray"],
  "H.264 narrow pixels": ["mp4", ...words("-f lavfi -i testsrc2=size=160x90:duration=1,setsar=3/4"), ...H264],
  "H.265 with HLG": [
    ...["mp4", ...PICTURES, ...words("-c:v libx265 -preset ultrafast -x265-params"), HLG_STREAM],
    ...["-pix_fmt", "yuv420p10le", "-tag:v", "hvc1", ...HLG],
  ],
  "H.265 4:2:2 in Matroska": ["mkv", ...PICTURES, ...H265, "-pix_fmt", "yuv422p10le"],
  "VP9 of 10 bits": ["webm", ...PICTURES, ...VP9, "-pix_fmt", "yuv420p10le"],
  "VP9 4:4:4": ["webm", ...PICTURES, ...VP9, "-pix_fmt", "yuv444p"],
  "VP9 in MP4": ["mp4", ...PICTURES, ...VP9, "-pix_fmt", "yuv420p"],
  "AV1 of 10 bits": ["mp4", ...PICTURES, ...AV1, "-pix_fmt", "yuv420p10le"],
  "AV1 in WebM": ["webm", ...PICTURES, ...AV1, "-pix_fmt", "yuv420p"],
  "MPEG-4 in MP4": ["mp4", ...PICTURES, "-c:v", "mpeg4"],
  "Theora in Ogg": ["ogv", ...PICTURES, ...SOUND, "-c:v", "libtheora", "-c:a", "libvorbis"],
  "ALAC in M4A": ["m4a", ...SOUND, "-c:a", "alac"],
  "FLAC in Ogg": ["oga", ...SOUND, "-c:a", "flac"],
  "layer II of MPEG audio": ["mp2", ...SOUND, "-c:a", "mp2"],
  "mono MP3": ["mp3", ...SOUND, "-c:a", "libmp3lame", "-ac", "1"],
  "8-bit WAV at 8 kHz": ["wav", ...SOUND, "-c:a", "pcm_u8", "-ar", "8000"],
  "A-law WAV": ["wav", ...SOUND, "-c:a", "pcm_alaw", "-ar", "8000"],
  "AAC in Matroska": ["mka", ...SOUND, "-c:a", "aac"],
  "noise in Opus": [
    ...["opus", ...words("-f lavfi -i anoisesrc=duration=3:seed=5"), "-c:a", "libopus", "-b:a", "256k"],
  ],
};

// AAC of low rates, which may be HE-AAC: headers state its core alone.
const LOW_AAC: Record<string, () => Promise<string>> = {
  "HE-AACv2 in ADTS": () => heAacClip("aac"),
  "HE-AAC in ADTS": () => heAacClip("aac", { channels: 2 }),
  "HE-AACv2 in M4A": () => heAacClip("m4a"),
  "HE-AACv2 in M4A, whose header states the rate": () => heAacClip("m4a", { explicit: true }),
  "HE-AACv2 in MOV": () => heAacClip("mov"),
  "HE-AACv2 in Matroska": () => heAacClip("mka"),
  "AAC of 22.05 kHz": () => makeClip("m4a", [...SOUND, "-c:a", "aac", "-ar", "22050"]),
  "AAC of 16 kHz in a video": () =>
    makeClip("mp4", [...PICTURES, ...SOUND, ...H264, "-c:a", "aac", "-ar", "16000"]),
};

// Files whose headers lack a fact, or that mediabunny does not read.
const NEEDS_FFPROBE: ReadonlySet<string> = new Set([
  ...Object.keys(LOW_AAC),
  ...["mp4_fragmented", "mp4_interlaced", "mpegts_interlaced", "mpegts", "mov_prores", "avi", "flv", "h264"],
  ...["png", "png_alpha", "png_odd", "png_animated", "avif", "bmp", "gif", "gif_animated"],
  ...["MPEG-4 in MP4", "Theora in Ogg", "ALAC in M4A", "FLAC in Ogg"],
  "layer II of MPEG audio",
] satisfies (ClipName | keyof typeof MORE)[]);

const FILES: { name: string; path: () => Promise<string> }[] = [
  // Native ffmpeg 5.1 cannot read an animated WebP.
  ...CLIP_NAMES.filter((name) => name !== "webp_animated").map((name) => ({ name, path: () => clip(name) })),
  ...Object.entries(MORE).map(([name, [extension = "", ...args]]) => ({
    name,
    path: () => makeClip(extension, args),
  })),
  ...Object.entries(LOW_AAC).map(([name, path]) => ({ name, path })),
];

test.for(FILES)("probes $name as native ffprobe does", async ({ name, path }) => {
  const file = await path();
  const { source, fell_back } = await probeFile(file);
  const report = await nativeFfprobe(file)(undefined as never, undefined as never);
  const native = parseFfprobe(report, { url: source.url, filesize: source.filesize ?? 0 });
  // ffprobe does not report fragments.
  const fragmented = name === "mp4_fragmented" && { fragmented: true };
  // ffprobe takes every GIF for transparent.
  const opaque = source.format === "gif" && { has_alpha: false };
  expect(comparable(source)).toEqual({ ...comparable(native), ...fragmented, ...opaque });
  expect(source.duration ?? 0).toBeCloseTo(native.duration ?? 0, 1);
  expect((source.fps ?? 1) / (native.fps ?? 1)).toBeCloseTo(1, 2);
  expect((source.bitrate ?? 1) / (native.bitrate ?? 1)).toBeCloseTo(1, 1);
  expect(fell_back).toBe(NEEDS_FFPROBE.has(name));
});

// The facts that must be exactly equal. A missing color range means limited, and ffprobe reads no table of times.
function comparable(source: Source) {
  const { duration, fps, constant_fps, bitrate, sample_aspect_ratio, streams, color, ...exact } = source;
  return {
    ...exact,
    fps: fps !== undefined,
    timed: duration !== undefined,
    square: sample_aspect_ratio === undefined || sample_aspect_ratio === "1:1",
    color: color && { ...color, range: color.range ?? "limited" },
    streams: streams?.map(({ index, kind, codec }) => ({ index, kind, codec })),
  };
}

test.for([
  {
    name: "mp4",
    facts: { width: 160, height: 90, fps: 25, duration: 2, rotation: 0, interlaced: false, has_alpha: false },
  },
  {
    name: "mp4_rotated_90",
    facts: { width: 90, height: 160, coded_width: 160, coded_height: 90, rotation: 90 },
  },
  { name: "mp4_rotated_180", facts: { width: 160, height: 90, rotation: 180 } },
  { name: "mp4_rotated_270", facts: { width: 90, height: 160, rotation: 270 } },
  { name: "mp4_wide_pixels", facts: { width: 213, height: 90, coded_width: 160, coded_height: 90 } },
  { name: "mp4_odd", facts: { width: 161, height: 91, pixel_format: "yuv444p" } },
  { name: "webm_odd", facts: { width: 161, height: 91 } },
  { name: "mp4_silent", facts: { codecs: { video: "h264", audio: null } } },
  {
    name: "mp4_surround",
    facts: { codecs: { video: "h264", audio: "aac" }, audio: { channels: 6, sample_rate: 44_100 } },
  },
  { name: "mp4_interlaced", facts: { interlaced: true } },
  {
    name: "mpegts_interlaced",
    facts: { format: "mpegts", interlaced: true, codecs: { video: "mpeg2video", audio: "mp2" } },
  },
  { name: "mp4_10_bit", facts: { pixel_format: "yuv420p10le" } },
  { name: "webm_alpha", facts: { has_alpha: true, kind: "video", format: "webm" } },
  { name: "png_alpha", facts: { has_alpha: true, kind: "image", format: "png" } },
  { name: "gif_animated", facts: { kind: "image", animated: true, duration: 2 } },
  { name: "mov", facts: { format: "mov", mime: "video/quicktime" } },
  { name: "mkv", facts: { format: "matroska" } },
  { name: "m4a", facts: { kind: "audio", format: "mp4", mime: "audio/mp4" } },
  { name: "mp3_cover", facts: { kind: "audio", codecs: { video: null, audio: "mp3" } } },
  {
    name: "opus",
    facts: { kind: "audio", format: "ogg", codecs: { video: null, audio: "opus" }, duration: 2 },
  },
] as const satisfies readonly { name: ClipName; facts: Partial<Source> }[])(
  "reports the facts of $name",
  async ({ name, facts }) => {
    expect((await probeFile(await clip(name))).source).toMatchObject(facts);
  },
);

test("the ends of an MP4 that starts late count from its first picture or sound, not from its text", async () => {
  const { streams = [] } = (await probeFile(await lateVideo("mp4"))).source;
  expect(
    streams.filter(({ kind }) => kind !== "subtitle").map(({ end }) => Math.round((end ?? 0) * 10)),
  ).toEqual([30, 30, 30]);
});

test("keeps the other header facts of HE-AAC, also in a second track", async () => {
  const [video, sound] = [await clip("mp4"), await heAacClip("aac")];
  const maps = ["-map", "0:v", "-map", "0:a", "-map", "1:a", "-c", "copy"];
  const path = await makeClip("mp4", ["-i", video, "-i", sound, ...maps, "-bsf:a:1", "aac_adtstoasc"]);
  const { source } = await probeFile(path);
  expect(source.audio).toEqual({ channels: 2, sample_rate: 44_100 });
  expect(source.streams).toMatchObject([
    { kind: "video", end: 2 },
    { kind: "audio", codec: "aac" },
    { kind: "audio", codec: "aac", channels: 2, sample_rate: 44_100 },
  ]);
});

test("header facts of low-rate AAC apply only if ffprobe fails for good", async () => {
  const reader = await diskReader(await heAacClip("m4a"));
  const probeWith = (kind: ErrorKind) => {
    const failing = () => Promise.reject(new MediaError(kind, "No core."));
    return probeMedia(reader, { url: "file:low" }, failing, AbortSignal.timeout(10_000));
  };
  const { audio } = await probeWith("encoder_unavailable");
  expect(audio).toEqual({ channels: 1, sample_rate: 22_050 });
  await expect(probeWith("worker_lost")).rejects.toMatchObject({ kind: "worker_lost" });
});

test("reports HDR with its colors", async () => {
  expect((await probeFile(await clip("mp4_hdr"))).source.color).toEqual({
    ...{ primaries: "bt2020", transfer: "smpte2084", space: "bt2020nc", range: "limited" },
    ...{ bit_depth: 10, hdr: true },
  });
});
