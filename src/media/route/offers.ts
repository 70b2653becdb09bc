import { outputSeconds, type Plan } from "../plan.ts";
import type { RefusalReason } from "../refusal.ts";
import type { Source } from "../source.ts";
import { cutPlan, SEGMENT_SECONDS } from "../timeline.ts";
import { isCopy } from "../video-plan.ts";
import { NATIVE_COST, NATIVE_MEMORY, type NativeWork, nativeWork } from "./costs.ts";

/** What one encoder would do with an uncut plan. */
export interface Offer {
  encoder: string;
  /** Why it cannot run the plan, cut as it would cut it; null when it can. */
  refusal: RefusalReason | null;
  /** Seconds of source per chunk; null when the plan stays uncut. */
  chunk_seconds: number | null;
  /** Chunks of pictures; 1 for uncut. */
  chunks: number;
  /** Chunks that it encodes at once. */
  at_once: number;
  /** Estimated seconds until the output is ready; null when unknown. */
  seconds: number | null;
  /** Those of them in which the encoder starts, which it does once for several plans; absent for none. */
  start?: number;
}

/** A host's native encoders, as far as the decision depends on them. */
export interface NativeEncoders extends NativeHost {
  /** Why they cannot run a plan; null when they can. */
  refusal: RefusalReason | null;
  /** Bytes of memory of one encoder. Default {@link NATIVE_MEMORY}. */
  memory?: number;
}

/** When a plan is cut into chunks for native encoders. */
const NATIVE_CUTS = {
  /** A plan estimated at up to this many seconds stays whole: it is not worth starting more encoders. */
  short: 20,
  /** Chunks must take at most this share of the uncut plan's time. */
  worth: 0.85,
  /** Above this many seconds a plan is always cut: losing an encoder would cost too much. */
  loss: 900,
} as const;

/** Returns what native encoders would do with an uncut plan, whole or in chunks, whichever finishes sooner. */
export function nativeOffer(plan: Plan, source: Source, host: NativeEncoders): Offer {
  const work = nativeWork(plan, source);
  const uncut = uncutTime(work, host);
  const cut = isCopy(plan) ? null : bestCut(plan, work, host);
  const offer = {
    ...{ encoder: "native", start: NATIVE_COST.seconds.start },
    refusal: host.refusal ?? refuseMemory(work, host.memory ?? NATIVE_MEMORY),
  };
  if (uncut === null || cut === null || !isWorth(cut, uncut)) {
    return { ...offer, chunk_seconds: null, chunks: 1, at_once: 1, seconds: uncut };
  }
  const { chunks, chunk_seconds, seconds } = cut;
  const at_once = Math.min(host.instances * slotsFor(host.cores).slots, host.max_in_flight);
  return { ...offer, chunk_seconds, chunks, at_once, seconds };
}

function isWorth(cut: NativeTime, uncut: number): boolean {
  const { short, worth, loss } = NATIVE_CUTS;
  return uncut > loss || (uncut > short && cut.seconds <= uncut * worth);
}

function refuseMemory({ memory }: NativeWork, available_bytes: number): RefusalReason | null {
  const needed_bytes = Math.ceil(memory);
  return needed_bytes <= available_bytes ? null : { code: "memory", needed_bytes, available_bytes };
}

/** The number and size of a host's native encoders. */
export interface NativeHost {
  instances: number;
  /** Processors per encoder. */
  cores: number;
  /** Most chunks of one plan to encode at once. */
  max_in_flight: number;
}

/** A way to cut a plan, and its estimated time. */
interface NativeTime {
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
function uncutTime({ pictures, sound }: NativeWork, { cores }: NativeHost): number | null {
  if (pictures === null || sound === null) return null;
  const { start, job } = NATIVE_COST.seconds;
  return start + job + Math.max(pictures / paceOf(cores), sound);
}

/** Finds the longest chunk length among those that finish a plan soonest; null when it should not be cut. */
function bestCut(plan: Plan, work: NativeWork, host: NativeHost): NativeTime | null {
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
