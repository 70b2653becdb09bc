import { waitingBytes } from "../../media/features/parts-graph.ts";
import { refuseTools, type Toolset, WASM_TOOLS } from "../../media/ffmpeg/toolset.ts";
import { type Chunk, type Plan, sourceEnd, sourceSeconds } from "../../media/plan.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import { SEGMENT_SECONDS } from "../../media/timeline.ts";
import { MIB } from "../../util/bytes.ts";
import { outputBytes } from "../light/light-estimate.ts";
import { heapOf, STOCK_COSTS, secondsOf, X264_AMPLE, X264_LEVELS, type X264Level } from "./wasm-costs.ts";

/** Limit in bytes on the heap and output of one encoder worker: wasm's 2 GiB, less a margin for wrong estimates. */
export const WORKER_MEMORY = 1792 * MIB;

const LOWEST: X264Level = X264_LEVELS[4];
// Enough for 3.5 Mpx; longer look-ahead at larger pictures would leave no room for other workers.
const MAX_AMPLE_HEAP = 448;

/** Memory of one worker for a job. */
export interface WorkerRoom {
  /** Bytes of heap and output together. */
  memory: number;
  /** Maximum bytes of an output that the core keeps in memory. */
  maxOutput: number;
}

/** Returns the reason why a plan does not fit a worker whose core has these tools; null when it fits. */
export function refusePool(
  plan: Plan,
  source: Source,
  { tools, ...room }: WorkerRoom & { tools: Toolset },
): RefusalReason | null {
  const refusal = refuseTools(plan, source, tools);
  if (refusal) return refusal;
  const needed_bytes = Math.ceil(
    Math.max(...plan.chunks.map((chunk) => memoryOf(plan, source, chunk, room))),
  );
  return needed_bytes <= room.memory ? null : { code: "memory", needed_bytes, available_bytes: room.memory };
}

/**
 * Returns a core's tools for a plan: x264 at its best quality, with its look-ahead shortened only as far as `memory` bytes require.
 */
export function poolTools(plan: Plan, source: Source, memory: number, tools = WASM_TOOLS): Toolset {
  const { args } = levelOf(plan, source, memory);
  return { ...tools, video: { ...tools.video, h264: { encoder: "libx264", args } } };
}

/** Estimates the bytes that a chunk takes in a worker. */
export function memoryOf(
  plan: Plan,
  source: Source,
  chunk: Chunk,
  { memory, maxOutput }: WorkerRoom,
): number {
  const { base, timeline, worker } = STOCK_COSTS.memory;
  const isSound = chunk.track === "audio";
  const heap = isSound ? base + timeline : heapOf(plan, source, levelOf(plan, source, memory));
  const output = outputBytes(plan, source, chunk, inputBytes(plan, source, chunk));
  return (heap + worker) * MIB + Math.min(maxOutput, output) + waitingBytes(plan, source, chunk);
}

function inputBytes(plan: Plan, { filesize = 0, duration }: Source, chunk: Chunk): number {
  const last = sourceEnd(plan, chunk);
  if (!duration || last === null) return filesize;
  return filesize * Math.min(1, Math.max(0, last - chunk.start) / duration);
}

function levelOf(plan: Plan, source: Source, memory: number): X264Level {
  const room = memory / MIB - STOCK_COSTS.memory.worker;
  if (heapOf(plan, source, X264_AMPLE) <= Math.min(room, MAX_AMPLE_HEAP)) return X264_AMPLE;
  return X264_LEVELS.find((level) => heapOf(plan, source, level) <= room) ?? LOWEST;
}

/** Extra seconds that a job may go without a sign of life: a picture is encoded in a single call. */
export function silentSeconds(plan: Plan, source: Source): number {
  const slow = 10;
  return plan.image ? slow * (secondsOf(plan, source, LOWEST)?.pictures ?? 0) : 0;
}

const CHUNK = { min: 4, max: 20, whole: 4 } as const;

/**
 * Returns the seconds of source that a chunk should span to keep `workers` busy: 4 to 20, or fewer if a worker would otherwise get no
 * chunk; null when the plan is better left whole. A hint for `createPlan`.
 */
export function poolChunkSeconds(plan: Plan, workers: number): number | null {
  const { video } = plan;
  const duration = sourceSeconds(plan);
  if (video?.mode !== "encode" || duration === null || workers < 2 || duration < CHUNK.whole) return null;
  const seconds = Math.min(CHUNK.max, Math.max(CHUNK.min, duration / (2 * workers)), duration / workers);
  if (plan.kind !== "adaptive_video") return seconds;
  return duration < 2 * SEGMENT_SECONDS ? null : Math.max(SEGMENT_SECONDS, seconds);
}
