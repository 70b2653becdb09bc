import { GIB, MIB } from "../util/bytes.ts";
import { isScript } from "./extra-files.ts";
import { costCodec } from "./features/audio-format.ts";
import { featureCost } from "./features.ts";
import type { Size } from "./picture-geometry.ts";
import { type Plan, pictureSize, plannedOf, sourceSeconds } from "./plan.ts";
import type { Source } from "./source.ts";
import { estimateWork } from "./work-estimate.ts";

/**
 * Costs of native ffmpeg with the settings of `NATIVE_TOOLS`: seconds of one processor, and MiB of memory for a job with two
 * threads. "Per Mpx" means per million pixels of one picture. Features state their own costs. `bench/constants/native-constants.ts`
 * measures the figures and prints them by these names, or states where they come from.
 */
export const NATIVE_COSTS = {
  seconds: {
    /** Start of a container. */
    start: 3,
    /** Overhead per job: submitting it, starting ffmpeg and storing the result. */
    job: 0.5,
    /** Stitching: once, per chunk, and per second of output. */
    stitch: { base: 1, chunk: 0.05, output_second: 0.002 },
    /** Cost per Mpx decoded. */
    decode: { h264: 0.004, h265: 0.005, vp9: 0.005, av1: 0.005, other: 0.006 },
    /** Cost per million bits decoded. */
    bits: 0.003,
    /** Scaling, per Mpx decoded and per Mpx encoded. */
    scale: 0.002,
    /** Cost per Mpx encoded. */
    encode: {
      h264: 0.045,
      h265: 0.07,
      vp9: 0.1,
      av1: 0.13,
      jpeg: 0.01,
      png: 0.08,
      webp: 0.055,
      gif: 0.15,
      avif: 0.6,
    },
    /** Cost per second of sound. */
    sound: { aac: 0.016, mp3: 0.007, opus: 0.008, vorbis: 0.04, flac: 0.002, pcm_s16le: 0.001 },
  },
  memory: {
    base: 75,
    /** Reference pictures, per Mpx decoded. */
    decode: { still: 12, moving: 20 },
    /** Cost per Mpx encoded, over all renditions. */
    encode: { h264: 170, h265: 180, vp9: 150, av1: 320, jpeg: 8, png: 10, webp: 10, gif: 30, avif: 25 },
    /** Cost per Mpx of the frames that an animation buffers for its palette. */
    palette_frames: 4,
    /** Cost per Mpx of letters: the renderer keeps a picture of each, and one of each line. */
    letters: 1.4,
  },
  /** Share of two threads that ffmpeg uses. */
  parallel: 0.85,
} as const;

/** A table of figures of the same shape. */
export type Figures<T> = { readonly [K in keyof T]: T[K] extends number ? number : Figures<T[K]> };
/** A table of the costs of native ffmpeg. */
export type NativeCosts = Figures<typeof NATIVE_COSTS>;

/** Default memory of a native encoder in bytes: that of Cloudflare's container type `standard-3`. */
export const NATIVE_MEMORY = 8 * GIB;

/** Estimated cost of a plan in native ffmpeg. */
export interface NativeWork {
  /** Seconds of one processor for the video; null when the duration is unknown. */
  pictures: number | null;
  /** Seconds for the audio, which uses a single processor; null when the duration is unknown. */
  sound: number | null;
  /** Seconds to decode from a keyframe to the start of a chunk. */
  seek: number;
  /** Bytes. */
  memory: number;
}

const MPX = 1_000_000;
const NATIVE_SEEK_SECONDS = 1;

/** Estimates the cost of a plan in native ffmpeg. */
export function nativeWork(plan: Plan, source: Source, costs: NativeCosts = NATIVE_COSTS): NativeWork {
  const { seconds, memory } = costs;
  const work = estimateWork(plan, source);
  const { audio } = plan;
  const features = featureCost(plannedOf(plan), "native");
  const frame = work.frame_decoded / MPX;
  const decoded = work.pixels_decoded === null ? null : work.pixels_decoded / MPX;
  const encoded = work.pixels_encoded === null ? null : work.pixels_encoded / MPX;
  const outputs = encodingsOf(plan);
  const area = outputs.reduce((sum, each) => sum + each.area, 0);
  const average = (costs: Figures<Record<Encoding, number>>) =>
    area > 0 ? outputs.reduce((sum, each) => sum + costs[each.codec] * each.area, 0) / area : 0;
  const rate = average(seconds.encode) + features.seconds;
  const size = average(memory.encode) + features.memory;
  const all = (source.duration ?? 0) * (source.fps ?? 0);
  const share = all > 0 ? Math.min(1, (work.frames_decoded ?? all) / all) : 1;
  const bits = frame > 0 ? ((source.filesize ?? 0) * 8 * share) / MPX : 0;
  const reading = decoded === null ? null : decoded * decodeSeconds(source, seconds) + bits * seconds.bits;
  const span = sourceSeconds(plan);
  const buffered = ((work.pixels_held ?? 0) / MPX) * memory.palette_frames;
  const scripts = (plan.further ?? []).filter(isScript);
  const letters = (scripts.reduce((sum, { pixels }) => sum + pixels, 0) / MPX) * memory.letters;
  return {
    pictures:
      reading === null || encoded === null || decoded === null
        ? null
        : reading + (decoded + encoded) * seconds.scale + encoded * rate,
    sound:
      audio?.mode !== "encode" || work.audio_seconds === null
        ? work.audio_seconds
        : work.audio_seconds * seconds.sound[costCodec(audio.codec)],
    seek: span && reading ? (reading * NATIVE_SEEK_SECONDS) / span : 0,
    memory:
      MIB *
      (memory.base +
        work.decoders * frame * memory.decode[plan.still ? "still" : "moving"] +
        (area / MPX) * size +
        features.fixed_memory +
        buffered +
        letters),
  };
}

type Encoding = keyof NativeCosts["seconds"]["encode"];

/** Returns the codec of each output, and the pixels of one of its pictures. */
function encodingsOf({ image, video, renditions, format }: Plan): { codec: Encoding; area: number }[] {
  const areaOf = ({ width, height }: Size) => width * height;
  if (image) return [{ codec: format as Encoding, area: areaOf(pictureSize(image)) }];
  if (video?.mode !== "encode") return [];
  if (renditions.length === 0) return [{ codec: video.codec, area: areaOf(video.geometry) }];
  return renditions.map(({ codec = video.codec, geometry }) => ({ codec, area: areaOf(geometry) }));
}

function decodeSeconds({ codecs }: Source, { decode }: NativeCosts["seconds"]): number {
  const codec = codecs?.video ?? "";
  return Object.hasOwn(decode, codec) ? decode[codec as keyof typeof decode] : decode.other;
}
