import type { AudioCodec, ImageFormat, VideoCodec } from "../core/formats.ts";
import type { RefusalReason } from "../core/refusal.ts";
import type { Source } from "../core/source.ts";
import type { Plan } from "../plan/plan.ts";
import type { Size } from "../plan/size.ts";

/** One of ffmpeg's encoders, and what it is told beside rate and size. */
export interface Tool {
  encoder: string;
  args: readonly string[];
}

/** What a build of ffmpeg can do, and how it is asked to do it. */
export interface Toolset {
  /** How to call the build in a message. */
  name: string;
  video: Partial<Record<VideoCodec, Tool>>;
  /** What encodes the renditions of adaptive video where that is not the usual tool. */
  adaptive: Partial<Record<VideoCodec, Tool>>;
  /** What encodes pictures with a side below {@link SMALL_SIDE} where the usual tool fails. */
  small: Partial<Record<VideoCodec, Tool>>;
  /** The shortest side in pixels that a codec can have; absent where any can. */
  least: Partial<Record<VideoCodec, number>>;
  audio: Partial<Record<AudioCodec, Tool>>;
  image: Partial<Record<ImageFormat, Tool>>;
  /** Encoder of the animations of a format. */
  animated: Partial<Record<ImageFormat, Tool>>;
  /** Codecs of pictures that it cannot read. */
  unreadable: readonly string[];
  /** Image formats whose transparency it cannot write. */
  opaque: readonly ImageFormat[];
  /** Arguments before the input. */
  input: readonly string[];
  /** Arguments before the output. */
  output: readonly string[];
  /** Scaling algorithm, as swscale calls it. */
  scaler: string;
}

const tool = (encoder: string, ...args: string[]): Tool => ({ encoder, args });

const AUDIO = {
  aac: tool("aac"),
  mp3: tool("libmp3lame"),
  // Unless it is held, noise comes out up to 70 % above the bitrate; held, 4 %.
  opus: tool("libopus", "-vbr", "constrained"),
  vorbis: tool("libvorbis"),
  flac: tool("flac"),
  pcm_s16le: tool("pcm_s16le"),
} as const satisfies Toolset["audio"];

const IMAGE = {
  jpeg: tool("mjpeg"),
  png: tool("png", "-pred", "mixed"),
  webp: tool("libwebp"),
  gif: tool("gif"),
} as const satisfies Toolset["image"];

const ANIMATED = { webp: tool("libwebp_anim"), gif: tool("gif") } as const satisfies Toolset["animated"];

/** Pixels of a side below which {@link Toolset.small} is asked. */
export const SMALL_SIDE = 64;

/** The stock wasm core (ffmpeg 5.1.4, one thread): settings that keep x264's look-ahead and references small in memory. */
export const WASM_TOOLS: Toolset = {
  name: "the wasm core",
  video: {
    h264: tool("libx264", "-preset", "veryfast", "-x264-params", "threads=1:rc-lookahead=8:ref=1:bframes=2"),
    vp9: tool("libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-lag-in-frames", "0", "-row-mt", "0"),
  },
  adaptive: {},
  small: {},
  least: {},
  audio: AUDIO,
  image: IMAGE,
  animated: ANIMATED,
  unreadable: ["av1", "avif"],
  opaque: [],
  input: ["-threads", "1"],
  output: ["-threads", "1"],
  scaler: "bicubic",
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
  name: "native ffmpeg",
  video: {
    h264: tool("libx264", "-preset", "fast"),
    h265: X265,
    vp9: tool("libvpx-vp9", "-deadline", "good", "-cpu-used", "4", "-row-mt", "1"),
    av1: tool("libsvtav1", "-preset", "8"),
  },
  // Over a ladder of four it takes a sixth less time than `fast`, and at the same CRF 10 % fewer bytes, at an SSIM of 0.001 less: measured on
  // film of 1280x720, where the top rendition came out better. Below subme 6 x264 spends no bits on grain.
  adaptive: { h264: tool("libx264", "-preset", "faster") },
  small: {
    // x265 3.5 writes beyond its memory when it looks ahead at small pictures with cutree.
    h265: addParams(X265, "-x265-params", "cutree=0"),
    av1: tool("libaom-av1", "-cpu-used", "6"),
  },
  least: { h265: 16 },
  audio: AUDIO,
  image: { ...IMAGE, avif: tool("libaom-av1", "-still-picture", "1", "-cpu-used", "6") },
  animated: ANIMATED,
  unreadable: [],
  // The AVIF writer learned transparency in ffmpeg 6.0.
  opaque: ["avif"],
  input: [],
  output: [],
  scaler: "bicubic",
};

/** Gives the encoder of a codec for pictures of a size; throws a RangeError where the toolset has none. */
export function videoTool(toolset: Toolset, codec: VideoCodec, { width, height }: Size): Tool {
  const usual = toolset.video[codec];
  const found = Math.min(width, height) < SMALL_SIDE ? (toolset.small[codec] ?? usual) : usual;
  if (!found) throw new RangeError(`${toolset.name} has no ${codec} encoder.`);
  return found;
}

/** Joins parameters of an encoder's own, such as those of `-x265-params`, with what it has already. */
export function addParams(tool: Tool, name: string, params: string): Tool {
  const at = tool.args.indexOf(name);
  if (at < 0) return { ...tool, args: [...tool.args, name, params] };
  return { ...tool, args: tool.args.with(at + 1, `${tool.args[at + 1]}:${params}`) };
}

/** Returns why a build of ffmpeg cannot do a plan; null when it can. */
export function refuseTools(plan: Plan, source: Source, toolset: Toolset): RefusalReason | null {
  const { video, audio, image } = plan;
  const decodes = image !== null || video?.mode === "encode";
  const codec = source.codecs?.video ?? "";
  if (decodes && toolset.unreadable.includes(codec)) return { code: "input_codec", codec };
  if (video?.mode === "encode" && !toolset.video[video.codec]) {
    return { code: "output_codec", codec: video.codec };
  }
  if (video?.mode === "encode") {
    const min_side = toolset.least[video.codec] ?? 1;
    if (Math.min(video.geometry.width, video.geometry.height) < min_side) {
      return { code: "output_too_small", codec: video.codec, min_side };
    }
  }
  if (audio?.mode === "encode" && !toolset.audio[audio.codec]) {
    return { code: "output_codec", codec: audio.codec };
  }
  if (!image) return null;
  const format = plan.format as ImageFormat;
  if (!(image.animated ? toolset.animated : toolset.image)[format]) {
    return { code: "output_format", format, animated: image.animated };
  }
  if (image.alpha && toolset.opaque.includes(format)) {
    return { code: "output_transparent", format };
  }
  return null;
}
