import { outputSeconds, type Plan } from "../media/plan.ts";
import { cutPlan, SEGMENT_SECONDS } from "../media/timeline.ts";
import { NATIVE_COST, type NativeWork } from "./native-cost.ts";

/** The number and size of a host's native encoders. */
export interface NativeHost {
  instances: number;
  /** Processors per encoder. */
  cores: number;
  /** Most chunks of one plan to encode at once. */
  max_in_flight: number;
}

/** A way to cut a plan, and its estimated time. */
export interface NativeTime {
  /** Seconds of source per chunk; null for uncut. */
  chunk_seconds: number | null;
  /** Chunks of pictures; 1 for uncut. */
  chunks: number;
  /** Estimated seconds until the output is ready. */
  seconds: number;
}

// Shorter chunks have too much overhead; longer ones lose too much when an encoder is lost.
const CHUNK = { least: 20, most: 120, step: 2 } as const;

/** Returns how many video jobs one encoder runs at once, and the threads of each, by its own defaults. */
export function slotsFor(cores: number): { slots: number; threads: number } {
  const slots = Math.max(1, Math.floor(cores / 2));
  return { slots, threads: Math.max(1, Math.ceil(cores / slots)) };
}

/** Estimates a plan that one encoder runs whole; null when its duration is unknown. */
export function uncutTime({ pictures, sound }: NativeWork, { cores }: NativeHost): number | null {
  if (pictures === null || sound === null) return null;
  const { start, job } = NATIVE_COST.seconds;
  return start + job + Math.max(pictures / paceOf(cores), sound);
}

/** Finds the longest chunk length among those that finish a plan soonest; null when it should not be cut. */
export function bestCut(plan: Plan, work: NativeWork, host: NativeHost): NativeTime | null {
  const { pictures, sound, seek } = work;
  const { duration, video } = plan;
  if (video?.mode !== "encode" || pictures === null || sound === null || duration === null) return null;
  const segmented = plan.kind === "adaptive_video";
  const slots = Math.max(1, Math.min(host.instances * slotsFor(host.cores).slots, host.max_in_flight));
  const cost = NATIVE_COST.seconds;
  const pace = paceOf(host.cores);
  let best: NativeTime | null = null;
  const step = segmented ? SEGMENT_SECONDS : CHUNK.step;
  for (let length = CHUNK.most; length >= CHUNK.least; length -= step) {
    const stretches = cutPlan(plan, { chunk_seconds: length }).chunks.filter(
      ({ track }) => track === "video",
    );
    if (stretches.length < 2) continue;
    const longest = Math.max(...stretches.map((chunk) => outputSeconds(plan, chunk) ?? 0));
    const each = cost.job + (seek + (pictures * longest) / duration) / pace;
    const rounds = Math.ceil(stretches.length / slots);
    const together = cost.stitch.once + stretches.length * cost.stitch.chunk + duration * cost.stitch.second;
    const seconds = cost.start + Math.max(rounds * each, cost.job + sound) + together;
    if (best === null || seconds < best.seconds)
      best = { chunk_seconds: length, chunks: stretches.length, seconds };
  }
  return best;
}

function paceOf(cores: number): number {
  const { threads } = slotsFor(cores);
  return threads === 1 ? 1 : threads * NATIVE_COST.parallel;
}
