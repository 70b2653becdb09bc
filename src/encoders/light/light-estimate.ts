import { isIsobmff, isMatroska, pictureFormat } from "../../media/containers.ts";
import { extraBytes } from "../../media/extra-files.ts";
import { waitingBytes } from "../../media/features/parts-graph.ts";
import { sourceForTrack } from "../../media/features/track.ts";
import type { WaveformPlan } from "../../media/features/waveform.ts";
import { samplesPerPixel } from "../../media/features/waveform-zoom.ts";
import { FAST_TOOLS, refuseTools, type Toolset, WASM_TOOLS } from "../../media/ffmpeg/toolset.ts";
import { isLosslessFormat } from "../../media/formats.ts";
import { mainStream } from "../../media/main-tracks.ts";
import { type Chunk, outputSeconds, type Plan, sourceSeconds } from "../../media/plan.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import { CHUNK_SECONDS } from "../../media/timeline.ts";
import { estimateWork } from "../../media/work-estimate.ts";
import { MIB, viewOf } from "../../util/bytes.ts";
import {
  type CoreName,
  heapOf,
  STOCK_COSTS,
  secondsOf,
  type WorkTime,
  X264_LEVELS,
  type X264Level,
} from "../wasm/wasm-costs.ts";

const MARGIN = 3 * MIB;
const LOWEST_LEVEL: X264Level = X264_LEVELS[4];

/** Returns the core that runs a plan: the fast core if the host has it and it supports the plan, otherwise the stock core. */
export function coreOf(plan: Plan, source: Source, hasFast: boolean): CoreName {
  return hasFast && refuseTools(plan, source, FAST_TOOLS) === null ? "fast" : "stock";
}

/** Returns the reason why a plan exceeds the light encoder's limits on a core; null when it fits. */
export function refuseLight(
  plan: Plan,
  source: Source,
  limits: LightLimits,
  core: CoreName = "stock",
): RefusalReason | null {
  const tools = refuseTools(plan, source, WASM_TOOLS);
  if (tools) return tools;
  const input = Math.max(
    ...plan.chunks.map((chunk) => inputMemory(source.filesize ?? 0, plan, chunk, source)),
  );
  if (input > LIGHT_INPUT.max) {
    return { code: "input_memory", needed_bytes: Math.ceil(input), available_bytes: LIGHT_INPUT.max };
  }
  const level = chooseLevel(plan, source, limits.memory);
  const memory = memoryOf(plan, source, level, core);
  if (memory > limits.memory) {
    return { code: "memory", needed_bytes: Math.ceil(memory), available_bytes: limits.memory };
  }
  const time = secondsOf(plan, source, level, core);
  if (!time) return { code: "unknown_duration" };
  const pieces = plan.chunks.map((chunk) => shareOf(plan, chunk, time));
  const total = pieces.reduce((sum, piece) => sum + piece, 0);
  if (total > limits.totalSeconds) {
    return { code: "time", seconds: total, max_seconds: limits.totalSeconds };
  }
  const longest = Math.max(...pieces);
  if (longest > limits.pieceSeconds) {
    return { code: "chunk_time", seconds: longest, max_seconds: limits.pieceSeconds };
  }
  return null;
}

/**
 * Returns the best x264 level that fits `memory` bytes; the same for all chunks of a plan, because they are stitched.
 */
export function chooseLevel(plan: Plan, source: Source, memory: number): X264Level {
  const fitsMemory = (level: X264Level) => memoryOf(plan, source, level) <= memory;
  return X264_LEVELS.find(fitsMemory) ?? LOWEST_LEVEL;
}

/**
 * Returns the seconds of source, 2 to 60, that a chunk of a plan should span to take the light encoder about `chunkSeconds` of
 * computing and to fit its memory: a hint for `createPlan`.
 */
export function lightChunkSeconds(
  plan: Plan,
  source: Source,
  limits: LightLimits,
  core: CoreName = "stock",
): number {
  const level = chooseLevel(plan, source, limits.memory);
  const time = secondsOf(plan, source, level, core);
  const { duration, filesize } = source;
  const span = sourceSeconds(plan);
  if (!time || !span || !duration || time.pictures === 0) return CHUNK_SECONDS;
  const computing = (limits.chunkSeconds * span) / time.pictures;
  const room = Math.min(
    LIGHT_INPUT.max,
    limits.memory - heapOf(plan, source, LOWEST_LEVEL) * MIB - 2 * MARGIN,
  );
  const reading = filesize ? rangeSeconds(room, filesize, duration) : CHUNK_SECONDS;
  return Math.min(CHUNK_SECONDS, Math.max(2, Math.floor(Math.min(computing, reading))));
}

function memoryOf(plan: Plan, source: Source, level: X264Level, core: CoreName = "stock"): number {
  const { base, timeline } = STOCK_COSTS.memory;
  const pictures = heapOf(plan, source, level);
  const bytes = plan.chunks.map((chunk) => {
    const input = inputMemory(source.filesize ?? 0, plan, chunk, source);
    const heap = (chunk.track === "audio" ? base + timeline : pictures) * MIB;
    const output =
      plan.waveform && core === "fast"
        ? peakBytes(plan, plan.waveform)
        : outputBytes(plan, source, chunk, input);
    return heap + input + output + waitingBytes(plan, source, chunk);
  });
  return Math.max(...bytes) + MARGIN;
}

// The fast core keeps only two peaks of 16 bits per point, in up to three copies while they grow.
function peakBytes({ audio, duration }: Plan, { zoom, split }: WaveformPlan): number {
  if (audio?.mode !== "encode") return 0;
  const samples = (duration ?? 0) * audio.sample_rate * (split ? audio.channels : 1);
  return (samples / samplesPerPixel(zoom, audio.sample_rate)) * 4 * 3;
}

/** Estimates the bytes that a chunk's output takes in memory; copied tracks take at most `input`. */
export function outputBytes(plan: Plan, source: Source, chunk: Chunk, input: number): number {
  const { video, audio, image } = plan;
  const { frame_encoded, pixels_encoded } = estimateWork(plan, source);
  const { output } = STOCK_COSTS;
  if (image) {
    const pixels = image.animated ? (pixels_encoded ?? 0) : frame_encoded;
    return pixels * (isLosslessFormat(plan.kind, plan.format) ? output.png : output.image);
  }
  const seconds = outputSeconds(plan, chunk) ?? 0;
  const share = plan.duration ? seconds / plan.duration : 1;
  const parts = [chunk.track === "audio" ? 0 : pictureBytes(), chunk.track === "video" ? 0 : soundBytes()];
  return parts.reduce((sum, part) => sum + part, 0) * output.growth;

  function pictureBytes(): number {
    if (video?.mode === "copy") return input;
    if (!video) return 0;
    if ("bitrate" in video.rate) return (video.rate.bitrate * seconds) / 8;
    return ((pixels_encoded ?? 0) * share * output.video) / 8;
  }

  function soundBytes(): number {
    if (audio?.mode === "copy") return Math.min(input, (soundRate(source) * seconds) / 8);
    return audio ? ((audio.bitrate ?? audio.channels * audio.sample_rate * 16) * seconds) / 8 : 0;
  }
}

function shareOf(plan: Plan, chunk: Chunk, time: WorkTime): number {
  const start = STOCK_COSTS.seconds.start;
  if (chunk.track === "audio") return start + time.sound;
  if (chunk.track === "all") return start + time.pictures + time.sound;
  const share = plan.duration ? (outputSeconds(plan, chunk) ?? 0) / plan.duration : 0;
  const seek = chunk.start > plan.start ? time.seek : 0;
  return start + seek + time.pictures * share;
}

/** Limit in bytes on a job's heap, input and output together: an isolate has 128 MB for these and the code. */
export const LIGHT_MEMORY = 96 * MIB;

/** Limits on input in bytes: a probe may read a picture of up to `image` completely; at most `most` are ever in memory. */
export const LIGHT_INPUT = { image: 32 * MIB, max: 40 * MIB } as const;

/** Limits on the estimated work of the light encoder; times are seconds of its processor. */
export interface LightLimits {
  memory: number;
  /** Limit of one chunk of pictures of a plan that can be cut; a chunk cannot be interrupted. */
  chunkSeconds: number;
  /** Limit of one uninterrupted job, whether or not the plan is cut. */
  pieceSeconds: number;
  /** Limit of all chunks of a plan together. */
  totalSeconds: number;
  /** Seconds of silence after which the encoder counts as lost; wasm takes several times longer until it is optimized. */
  silenceSeconds: number;
  /** Seconds for which a lost encoder is awaited before its loss is reported, so that another attempt finds it again. */
  awaySeconds: number;
}

export const LIGHT_LIMITS: Readonly<LightLimits> = {
  memory: LIGHT_MEMORY,
  chunkSeconds: 8,
  pieceSeconds: 30,
  totalSeconds: 120,
  silenceSeconds: 300,
  awaySeconds: 0,
};

/** Seconds from the keyframe before a chunk to its start: at most `max` in nearly all files, `typical` in many. */
const KEYFRAME = { max: 9, typical: 4 } as const;

/** Bytes of a chunk's range of a file, from the keyframe before it, with an allowance for an uneven bitrate. */
export function rangeBytes(
  size: number,
  plan: Plan,
  source: Source,
  chunk: Chunk,
  keyframe: keyof typeof KEYFRAME,
): number {
  const { duration } = source;
  if (!duration) return size;
  const from = chunk.decode_from ?? Math.max(0, chunk.start - KEYFRAME[keyframe]);
  const one = plan.image !== null && !plan.image.animated;
  const end = one ? chunk.start : (chunk.end ?? duration);
  const seconds = Math.min(end, duration) - from + 1;
  return Math.min(size, Math.ceil((size * seconds * BITRATE_MARGIN) / duration));
}

/** The longest chunk, in seconds, for which at most `bytes` of its file are in memory; the inverse of {@link inputBytes}. */
function rangeSeconds(bytes: number, size: number, duration: number): number {
  return (
    ((bytes - TABLE_BYTES - TABLE_BYTES_PER_SECOND * duration) * duration) / (size * BITRATE_MARGIN) -
    KEYFRAME.max -
    1
  );
}

/**
 * Bytes of a file of `size` held in memory while a chunk is encoded: all of it, a range and the file's tables, or its
 * sound; with the extra files.
 */
function inputMemory(size: number, plan: Plan, chunk: Chunk, source: Source): number {
  const input = soundBytes(size, plan, chunk, source) ?? inputBytes(size, plan, source, chunk);
  return input + extraBytes(plan, chunk);
}

/**
 * Bytes of sound to extract from a file of `size` for a chunk that needs only sound; null when extracting is not worth it. Without
 * extraction a core would have to hold the whole file, because pictures and sound are interleaved.
 */
export function soundBytes(size: number, plan: Plan, chunk: Chunk, source: Source): number | null {
  const own = sourceForTrack(source, plan);
  const { audio, duration, codecs, format } = own;
  if (chunk.sound || plan.concat) return null;
  const isSound = plan.kind === "audio" || plan.kind === "waveform" || chunk.track === "audio";
  if (!isSound || !codecs?.video || !audio || !duration || size <= SMALL) return null;
  if ((!isIsobmff(format) && !isMatroska(format)) || codecs.audio === "opus") return null;
  const bytes = Math.ceil((soundRate(own) * duration * 1.1) / 8);
  return bytes <= MAX_SOUND_BYTES && bytes < size ? bytes : null;
}

/** Bits per second of a source's sound; an estimate where the source does not state it. */
function soundRate(source: Source): number {
  const { audio, codecs } = source;
  const stated = mainStream(source, "audio")?.bitrate;
  if (stated !== undefined || !audio) return stated ?? 0;
  return /^(pcm|flac|alac)/.test(codecs?.audio ?? "")
    ? audio.channels * audio.sample_rate * 32
    : LOSSY_BITRATE;
}

/** Bytes of a file of `size` that the core reads for a chunk: all of it, or a range and the file's tables. */
export function inputBytes(size: number, plan: Plan, source: Source, chunk: Chunk): number {
  const range = rangeBytes(size, plan, source, chunk, "max");
  return size <= SMALL
    ? size
    : Math.min(size, range + TABLE_BYTES + TABLE_BYTES_PER_SECOND * (source.duration ?? 0));
}

const SMALL = 4 * MIB;
// The tables of an MP4 take some 20 bytes a picture and 8 a packet of sound.
const TABLE_BYTES = 2 * MIB;
const TABLE_BYTES_PER_SECOND = 1000;
const BITRATE_MARGIN = 1.1;
const MAX_SOUND_BYTES = 16 * MIB;
const LOSSY_BITRATE = 384_000;

/** Returns a core's tools for a plan, with the best x264 level that fits `memory` bytes. Default 96 MiB. */
export function lightTools(
  plan: Plan,
  source: Source,
  memory: number = LIGHT_MEMORY,
  tools: Toolset = WASM_TOOLS,
): Toolset {
  const { args } = chooseLevel(plan, source, memory);
  return { ...tools, video: { ...tools.video, h264: { encoder: "libx264", args } } };
}

/**
 * Returns the reason why a progressive JPEG exceeds the light encoder's memory; null when it fits. The decoder keeps two bytes per sample
 * until the last scan, however much the picture is shrunk.
 */
export function refuseScans(jpeg: Uint8Array, source: Source): RefusalReason | null {
  if (!pictureFormat(source.format).scans || !isProgressive(viewOf(jpeg))) return null;
  const { coded_width = 0, coded_height = 0, pixel_format = "" } = source;
  const samples = coded_width * coded_height * (SAMPLES_PER_PIXEL[pixel_format] ?? 3);
  const needed_bytes = Math.ceil(STOCK_COSTS.memory.base * MIB + jpeg.length + 2 * samples);
  if (needed_bytes <= LIGHT_MEMORY) return null;
  return { code: "memory", needed_bytes, available_bytes: LIGHT_MEMORY };
}

const SAMPLES_PER_PIXEL: Readonly<Record<string, number>> = {
  yuvj420p: 1.5,
  yuvj422p: 2,
  gray: 1,
  // CMYK and YCCK.
  gbrap: 4,
  cmyk: 4,
  yuva444p: 4,
  yuva420p: 2.5,
};

// ITU-T T.81, B.1.1.2 and B.1.1.3: fill bytes may precede a marker.
function isProgressive(view: DataView): boolean {
  for (let at = 2; at + 4 <= view.byteLength; ) {
    const marker = view.getUint16(at);
    if (marker === 0xffc2) return true;
    if (marker < 0xffc0 || marker === 0xffda) return false;
    at += marker === 0xffff ? 1 : 2 + view.getUint16(at + 2);
  }
  return false;
}
