import { containersWith } from "../containers.ts";
import { refuseDecoding } from "../decoded-pictures.ts";
import type { Engine } from "../feature.ts";
import { type FeatureName, refuseFeatures } from "../features.ts";
import type { AudioCodec, ImageFormat, VideoCodec } from "../formats.ts";
import type { Size } from "../picture-geometry.ts";
import { type ImagePlan, type Plan, plannedOf } from "../plan.ts";
import type { RefusalReason } from "../refusal.ts";
import { decodedSounds } from "../sound-plan.ts";
import type { Source } from "../source.ts";
import { filterContext } from "./color.ts";
import * as errors from "./errors.ts";

/** One of ffmpeg's encoders, with its arguments besides rate and size. */
export interface Tool {
  encoder: string;
  args: readonly string[];
}

/** The formats and codecs that a small build of ffmpeg reads; codecs matter only when they are decoded. */
export interface Readable {
  formats: ReadonlySet<string>;
  codecs: ReadonlySet<string>;
  /** Supported bits per sample, for codecs whose other depths cannot be decoded. */
  depths: Readonly<Record<string, ReadonlySet<number>>>;
}

/** The capabilities of a build of ffmpeg, and the arguments it needs. */
export interface Toolset {
  engine: Engine;
  /** Features that its engine supports but this build lacks. Required, so that no copy of a toolset forgets them. */
  lacks: readonly FeatureName[];
  /** Name of the build, used in messages. */
  name: string;
  video: Partial<Record<VideoCodec, Tool>>;
  /** Encoders for several renditions in one run (adaptive video), where they differ from `video`. */
  renditions: Partial<Record<VideoCodec, Tool>>;
  /** Encoders for pictures with a side below 64 pixels, where the default one fails. */
  small: Partial<Record<VideoCodec, Tool>>;
  /** The shortest side in pixels that a codec's encoder supports; absent when any side works. */
  minSide: Partial<Record<VideoCodec, number>>;
  audio: Partial<Record<AudioCodec, Tool>>;
  image: Partial<Record<ImageFormat, Tool>>;
  animated: Partial<Record<ImageFormat, Tool>>;
  /** Formats whose pictures its host decodes for it. */
  decoded: ReadonlySet<string>;
  /** Video codecs that it cannot read. */
  unreadable: readonly string[];
  /** Everything that it reads; null for a full build. */
  readable: Readable | null;
  /** Whether it can join short audio frames, which saves time. */
  joins: boolean;
  /** Whether it can flatten transparency. */
  flattens: boolean;
  /** Image formats whose transparency it cannot write. */
  opaque: readonly ImageFormat[];
  /** Image formats whose animations it can only write as endless loops. */
  endless: readonly ImageFormat[];
  input: readonly string[];
  output: readonly string[];
  scaler: string;
}

const tool = (encoder: string, ...args: string[]): Tool => ({ encoder, args });

const AUDIO = {
  aac: tool("aac"),
  mp3: tool("libmp3lame"),
  // With unconstrained VBR, noise exceeds the bitrate by up to 70 %; with constrained, by 4 %.
  opus: tool("libopus", "-vbr", "constrained"),
  vorbis: tool("libvorbis"),
  flac: tool("flac"),
  pcm_s16le: tool("pcm_s16le"),
  pcm_s24le: tool("pcm_s24le"),
  pcm_s32le: tool("pcm_s32le"),
  pcm_f32le: tool("pcm_f32le"),
  pcm_f64le: tool("pcm_f64le"),
} as const satisfies Toolset["audio"];

const IMAGE = {
  jpeg: tool("mjpeg"),
  png: tool("png", "-pred", "mixed"),
  webp: tool("libwebp"),
  gif: tool("gif"),
} as const satisfies Toolset["image"];

const ANIMATED = { webp: tool("libwebp_anim"), gif: tool("gif") } as const satisfies Toolset["animated"];

const SMALL_SIDE = 64;

/** The stock wasm core (ffmpeg 5.1.4, one thread), with x264 settings that limit the memory of look-ahead and references. */
export const WASM_TOOLS: Toolset = {
  engine: "stock",
  lacks: [],
  name: "the wasm core",
  video: {
    h264: tool("libx264", "-preset", "veryfast", "-x264-params", "threads=1:rc-lookahead=8:ref=1:bframes=2"),
    vp9: tool("libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-lag-in-frames", "0", "-row-mt", "0"),
  },
  renditions: {},
  small: {},
  minSide: {},
  audio: AUDIO,
  image: IMAGE,
  animated: ANIMATED,
  decoded: new Set(),
  unreadable: ["av1", "avif"],
  readable: null,
  joins: true,
  flattens: true,
  opaque: [],
  endless: [],
  input: ["-threads", "1"],
  output: ["-threads", "1"],
  scaler: "bicubic",
};

const { aac, mp3, opus, flac, pcm_s16le } = AUDIO;

/**
 * This project's own wasm core (ffmpeg 5.1.9, one thread): several times faster than the stock one, for H.264 and audio only.
 * core/recipe.ts lists its components.
 */
export const FAST_TOOLS: Toolset = {
  ...WASM_TOOLS,
  engine: "fast",
  name: "the fast core",
  video: { h264: WASM_TOOLS.video.h264 as Tool },
  audio: { aac, mp3, opus, flac, pcm_s16le },
  image: {},
  animated: {},
  readable: {
    formats: containersWith(({ fast }) => fast),
    codecs: new Set([
      ...["h264", "h265", "mpeg4", "mpeg2video", "mpeg1video", "vp8", "vp9"],
      ...["aac", "mp3", "mp2", "opus", "vorbis", "flac", "alac", "ac3", "eac3"],
      ...["pcm_f32le", "pcm_s16be", "pcm_s16le", "pcm_s24be", "pcm_s24le", "pcm_s32le", "pcm_u8"],
    ]),
    depths: { h264: new Set([8, 10]), h265: new Set([8, 10]) },
  },
  joins: false,
  flattens: false,
};

/** The WebM variant of the fast core, with libvpx instead of x264: a file of its own, so that no other job downloads it. */
export const VP9_TOOLS: Toolset = {
  ...FAST_TOOLS,
  video: { vp9: WASM_TOOLS.video.vp9 as Tool },
  audio: { opus: AUDIO.opus },
};

const X265 = tool(
  "libx265",
  "-preset",
  "fast",
  "-x265-params",
  "open-gop=0:log-level=error",
  "-tag:v",
  "hvc1",
);

/** A native ffmpeg 5.1 or later with x264, x265, libvpx, SVT-AV1 and libaom. */
export const NATIVE_TOOLS: Toolset = {
  engine: "native",
  lacks: [],
  name: "native ffmpeg",
  video: {
    h264: tool("libx264", "-preset", "fast"),
    h265: X265,
    vp9: tool("libvpx-vp9", "-deadline", "good", "-cpu-used", "4", "-row-mt", "1"),
    av1: tool("libsvtav1", "-preset", "8"),
  },
  // Compared with `fast`: a sixth less time, 10 % fewer bytes, 0.001 less SSIM. Below subme 6, x264 spends no bits on grain.
  renditions: { h264: tool("libx264", "-preset", "faster") },
  small: {
    // With cutree, the look-ahead of x265 3.5 writes out of bounds for small pictures.
    h265: addParams(X265, "-x265-params", "cutree=0"),
    av1: tool("libaom-av1", "-cpu-used", "6"),
  },
  minSide: { h265: 16 },
  audio: AUDIO,
  image: { ...IMAGE, avif: tool("libaom-av1", "-still-picture", "1", "-cpu-used", "6") },
  animated: { ...ANIMATED, avif: tool("libaom-av1", "-cpu-used", "8", "-row-mt", "1") },
  decoded: new Set(["heic", "avif", "webp"]),
  unreadable: [],
  readable: null,
  joins: true,
  flattens: true,
  // The AVIF muxer supports transparency since ffmpeg 6.0.
  opaque: ["avif"],
  endless: [],
  input: [],
  output: [],
  scaler: "bicubic",
};

/** Returns the encoder of a codec for a picture size; throws a RangeError when the toolset has none. */
export function videoTool(toolset: Toolset, codec: VideoCodec, { width, height }: Size): Tool {
  const standard = toolset.video[codec];
  const encoder = Math.min(width, height) < SMALL_SIDE ? (toolset.small[codec] ?? standard) : standard;
  if (!encoder) throw errors.encoderMissing({ tools: toolset.name, codec });
  return encoder;
}

/** Returns the encoder of an image; undefined when the toolset has none. Each sheet of a storyboard is a still. */
export function imageTool(
  { animated, image }: Toolset,
  format: ImageFormat,
  plan: Pick<ImagePlan, "animated" | "sheet">,
): Tool | undefined {
  return (plan.animated && !plan.sheet ? animated : image)[format];
}

/** Appends to an encoder's private parameters, such as `-x265-params`. */
export function addParams(tool: Tool, name: string, params: string): Tool {
  const at = tool.args.indexOf(name);
  if (at < 0) return { ...tool, args: [...tool.args, name, params] };
  return { ...tool, args: tool.args.with(at + 1, `${tool.args[at + 1]}:${params}`) };
}

/** Returns why a build of ffmpeg cannot run a plan; null when it can. */
export function refuseTools(plan: Plan, source: Source, toolset: Toolset): RefusalReason | null {
  const { video, audio, image } = plan;
  const decodes = image !== null || video?.mode === "encode";
  const codec = source.codecs?.video ?? "";
  if (decodes && toolset.unreadable.includes(codec)) return { code: "input_codec", codec };
  const decodeRefusal = decodes ? refuseDecoding(plan, source, toolset.decoded) : null;
  if (decodeRefusal) return decodeRefusal;
  if (video?.mode === "encode") {
    for (const { codec = video.codec, geometry } of [video, ...plan.renditions]) {
      if (!toolset.video[codec]) return { code: "output_codec", codec };
      const min_side = toolset.minSide[codec] ?? 1;
      if (Math.min(geometry.width, geometry.height) < min_side)
        return { code: "output_too_small", codec, min_side };
    }
  }
  if (audio?.mode === "encode" && !toolset.audio[audio.codec]) {
    return { code: "output_codec", codec: audio.codec };
  }
  const featureRefusal = refuseFeatures(
    plannedOf(plan),
    source,
    toolset.engine,
    filterContext,
    toolset.lacks,
  );
  if (featureRefusal) return featureRefusal;
  const unreadable = plan.concat?.find(
    ({ source: { codecs }, video: each }) => each && toolset.unreadable.includes(codecs?.video ?? ""),
  );
  if (unreadable) return { code: "input_codec", codec: unreadable.source.codecs?.video ?? "" };
  if (!image) return refuseSource(plan, source, toolset);
  const format = plan.format as ImageFormat;
  if (!imageTool(toolset, format, image)) {
    return { code: "output_format", format, animated: image.animated && !image.sheet };
  }
  if ((image.motion?.loop ?? 0) > 0 && toolset.endless.includes(format))
    return { code: "output_repeats", format };
  if (image.alpha && toolset.opaque.includes(format)) return { code: "output_transparent", format };
  return null;
}

function refuseSource(plan: Plan, source: Source, toolset: Toolset): RefusalReason | null {
  const { video } = plan;
  const { readable } = toolset;
  const { format, codecs } = source;
  if (readable && !readable.formats.has(format)) return { code: "input_format", format };
  const names = [video?.mode === "encode" ? codecs?.video : null, ...decodedSounds(plan, source)];
  const codec = names.find((name) => name && readable && !readable.codecs.has(name));
  if (codec) return { code: "input_codec", codec };
  if (video?.mode !== "encode") return null;
  const [coded, bit_depth] = [codecs?.video ?? "", source.color?.bit_depth];
  if (bit_depth && readable?.depths[coded]?.has(bit_depth) === false) {
    return { code: "input_depth", codec: coded, bit_depth };
  }
  return source.has_alpha && !toolset.flattens ? { code: "input_transparent" } : null;
}
