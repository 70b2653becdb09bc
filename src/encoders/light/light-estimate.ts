import type { RefusalReason } from "../../core/refusal.ts";
import type { Source } from "../../core/source.ts";
import { refuseTools } from "../../ffmpeg/refuse-tools.ts";
import { FAST_TOOLS, WASM_TOOLS } from "../../ffmpeg/toolset.ts";
import type { WaveformPlan } from "../../media/features/waveform.ts";
import { samplesPerPixel } from "../../media/features/waveform-zoom.ts";
import { CHUNK_SECONDS } from "../../plan/chunks.ts";
import { estimateWork } from "../../plan/estimate.ts";
import { type Chunk, outputSeconds, type Plan, sourceSeconds } from "../../plan/plan.ts";
import { MIB } from "../../util/bytes.ts";
import {
  type CoreName,
  heapOf,
  LIGHT_COST,
  secondsOf,
  type WorkTime,
  X264_LEVELS,
  type X264Level,
} from "./light-cost.ts";
import { heldBytes, LIGHT_INPUT, type LightLimits, soundRate, stretchSeconds } from "./light-limits.ts";

// Margin for the estimates' error.
const SPARE = 3 * MIB;
const LOWEST: X264Level = X264_LEVELS[4];

/** Returns the core that runs a plan on a host: the fast one where the host has it and it can, the stock one for the rest. */
export function coreOf(plan: Plan, source: Source, hasFast: boolean): CoreName {
  return hasFast && refuseTools(plan, source, FAST_TOOLS) === null ? "fast" : "stock";
}

/** Returns why a plan exceeds the light encoder's limits on a core; null when it fits. */
export function refuseLight(
  plan: Plan,
  source: Source,
  limits: LightLimits,
  core: CoreName = "stock",
): RefusalReason | null {
  const tools = refuseTools(plan, source, WASM_TOOLS);
  if (tools) return tools;
  const input = Math.max(...plan.chunks.map((chunk) => heldBytes(source.filesize ?? 0, plan, chunk, source)));
  if (input > LIGHT_INPUT.most) {
    return { code: "input_memory", needed_bytes: Math.ceil(input), available_bytes: LIGHT_INPUT.most };
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
 * Returns the best x264 level that fits `memory` bytes. It is the same for all chunks of a plan, because they are stitched
 * together.
 */
export function chooseLevel(plan: Plan, source: Source, memory: number): X264Level {
  const fits = (level: X264Level) => memoryOf(plan, source, level) <= memory;
  return X264_LEVELS.find(fits) ?? LOWEST;
}

/**
 * Returns how many seconds of source, 2 to 60, a chunk of a plan should span to take the light encoder about `chunkSeconds`
 * of computing and to fit its memory: a hint for `createPlan`.
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
  // Decoding from a keyframe comes on top; shorter chunks would only repeat it more often.
  const computing = (limits.chunkSeconds * span) / time.pictures;
  const room = Math.min(LIGHT_INPUT.most, limits.memory - heapOf(plan, source, LOWEST) * MIB - 2 * SPARE);
  const reading = filesize ? stretchSeconds(room, filesize, duration) : CHUNK_SECONDS;
  return Math.min(CHUNK_SECONDS, Math.max(2, Math.floor(Math.min(computing, reading))));
}

// Bytes that the largest chunk takes: heap, input and output.
function memoryOf(plan: Plan, source: Source, level: X264Level, core: CoreName = "stock"): number {
  const { base, moving } = LIGHT_COST.heap;
  const pictures = heapOf(plan, source, level);
  const bytes = plan.chunks.map((chunk) => {
    const input = heldBytes(source.filesize ?? 0, plan, chunk, source);
    const heap = (chunk.track === "audio" ? base + moving : pictures) * MIB;
    const output =
      plan.waveform && core === "fast"
        ? peakBytes(plan, plan.waveform)
        : outputBytes(plan, source, chunk, input);
    return heap + input + output;
  });
  return Math.max(...bytes) + SPARE;
}

// The fast core passes the sound on, and keeps only the peaks: two of 16 bits per point, in up to three copies while they grow.
function peakBytes({ audio, duration }: Plan, { zoom, split }: WaveformPlan): number {
  if (audio?.mode !== "encode") return 0;
  const samples = (duration ?? 0) * audio.sample_rate * (split ? audio.channels : 1);
  return (samples / samplesPerPixel(zoom, audio.sample_rate)) * 4 * 3;
}

/** Estimates the bytes that a chunk's output takes in memory; `input` limits what is copied. */
export function outputBytes(plan: Plan, source: Source, chunk: Chunk, input: number): number {
  const { video, audio, image } = plan;
  const { frame_encoded, pixels_encoded } = estimateWork(plan, source);
  // PNG compresses photographs to about half of their three bytes a pixel.
  if (image)
    return (image.animated ? (pixels_encoded ?? 0) : frame_encoded) * (plan.format === "png" ? 2 : 0.7);
  const seconds = outputSeconds(plan, chunk) ?? 0;
  const share = plan.duration ? seconds / plan.duration : 1;
  const parts = [chunk.track === "audio" ? 0 : pictureBytes(), chunk.track === "video" ? 0 : soundBytes()];
  // A file in memory grows by an eighth at a time.
  return parts.reduce((sum, part) => sum + part, 0) * 1.125;

  function pictureBytes(): number {
    if (video?.mode === "copy") return input;
    if (!video) return 0;
    if ("bitrate" in video.rate) return (video.rate.bitrate * seconds) / 8;
    return ((pixels_encoded ?? 0) * share * BITS_PER_PIXEL) / 8;
  }

  function soundBytes(): number {
    if (audio?.mode === "copy") return Math.min(input, (soundRate(source) * seconds) / 8);
    return audio ? ((audio.bitrate ?? audio.channels * audio.sample_rate * 16) * seconds) / 8 : 0;
  }
}

const BITS_PER_PIXEL = 0.25;

function shareOf(plan: Plan, chunk: Chunk, time: WorkTime): number {
  const start = LIGHT_COST.seconds.start;
  if (chunk.track === "audio") return start + time.sound;
  if (chunk.track === "all") return start + time.pictures + time.sound;
  const share = plan.duration ? (outputSeconds(plan, chunk) ?? 0) / plan.duration : 0;
  const seek = chunk.start > plan.start ? time.seek : 0;
  return start + seek + time.pictures * share;
}
