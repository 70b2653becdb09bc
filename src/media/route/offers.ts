import { outputSeconds, type Plan } from "../plan.ts";
import type { RefusalReason } from "../refusal.ts";
import type { Source } from "../source.ts";
import { cutPlan, SEGMENT_SECONDS } from "../timeline.ts";
import { isCopy } from "../video-plan.ts";
import { NATIVE_COSTS, NATIVE_MEMORY, type NativeWork, nativeWork } from "./costs.ts";

/** How one encoder would do an uncut plan. */
export interface Offer {
  encoder: string;
  /** Why it cannot do the plan, cut as it would cut it; null when it can. */
  refusal: RefusalReason | null;
  /** Seconds of source per chunk; null when the plan stays uncut. */
  chunk_seconds: number | null;
  /** Number of video chunks; 1 when uncut. */
  chunks: number;
  /** Chunks that it encodes at once. */
  at_once: number;
  /** Estimated seconds until the output is ready; null when unknown. */
  seconds: number | null;
  /** The part of `seconds` in which the encoder starts, once for several plans; absent for none. */
  start?: number;
}

/** The facts of a host's native encoders that a decision needs. */
export interface NativeEncoders extends NativeHost {
  /** Why they cannot do the plan; null when they can. */
  refusal: RefusalReason | null;
  /** Bytes of memory of one encoder. Default {@link NATIVE_MEMORY}. */
  memory?: number;
}

const NATIVE_CUTS = {
  /** Seconds of work up to which a plan stays whole, because starting more encoders is not worth it. */
  short: 20,
  /** The chunks must take at most this share of the uncut plan's time. */
  worth: 0.85,
  /** Above this many seconds a plan is always cut: losing an encoder would cost too much. */
  loss: 900,
} as const;

/** Returns the offer of native encoders for an uncut plan, whole or in chunks, whichever finishes sooner. */
export function nativeOffer(plan: Plan, source: Source, host: NativeEncoders): Offer {
  const work = nativeWork(plan, source);
  const uncut = uncutTime(work, host);
  const cut = isCopy(plan) ? null : bestCut(plan, work, host);
  const offer = {
    encoder: "native",
    start: NATIVE_COSTS.seconds.start,
    refusal: host.refusal ?? refuseMemory(work, host.memory ?? NATIVE_MEMORY),
  };
  if (uncut === null || cut === null || !isWorthwhile(cut, uncut)) {
    return { ...offer, chunk_seconds: null, chunks: 1, at_once: 1, seconds: uncut };
  }
  const { chunks, chunk_seconds, seconds } = cut;
  const at_once = Math.min(host.instances * slotsFor(host.cores).slots, host.max_in_flight);
  return { ...offer, chunk_seconds, chunks, at_once, seconds };
}

function isWorthwhile(cut: NativeTime, uncut: number): boolean {
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
  /** Maximum chunks of one plan to encode at once. */
  max_in_flight: number;
}

/** A way to cut a plan, and its estimated time. */
interface NativeTime {
  /** Seconds of source per chunk; null when uncut. */
  chunk_seconds: number | null;
  /** Number of video chunks; 1 when uncut. */
  chunks: number;
  /** Estimated seconds until the output is ready. */
  seconds: number;
}

const CHUNK_LENGTHS = { min: 20, max: 120, step: 2 } as const;

/** Returns the number of video jobs that an encoder with `cores` processors runs at once, and the threads of each. */
export function slotsFor(cores: number): { slots: number; threads: number } {
  const slots = Math.max(1, Math.floor(cores / 2));
  return { slots, threads: Math.max(1, Math.ceil(cores / slots)) };
}

/** Estimates the seconds of a plan that one encoder does whole; null when its duration is unknown. */
function uncutTime({ pictures, sound }: NativeWork, { cores }: NativeHost): number | null {
  if (pictures === null || sound === null) return null;
  const { start, job } = NATIVE_COSTS.seconds;
  return start + job + Math.max(pictures / paceOf(cores), sound);
}

/** Finds the chunk length that finishes a plan soonest, the longest of equals; null when it should not be cut. */
function bestCut(plan: Plan, work: NativeWork, host: NativeHost): NativeTime | null {
  const { pictures, sound, seek } = work;
  const { duration, video } = plan;
  if (video?.mode !== "encode" || pictures === null || sound === null || duration === null) return null;
  const segmented = plan.kind === "adaptive_video";
  const slots = Math.max(1, Math.min(host.instances * slotsFor(host.cores).slots, host.max_in_flight));
  const cost = NATIVE_COSTS.seconds;
  const pace = paceOf(host.cores);
  let best: NativeTime | null = null;
  const step = segmented ? SEGMENT_SECONDS : CHUNK_LENGTHS.step;
  for (let length = CHUNK_LENGTHS.max; length >= CHUNK_LENGTHS.min; length -= step) {
    const chunks = cutPlan(plan, { chunk_seconds: length }).chunks.filter(({ track }) => track === "video");
    if (chunks.length < 2) continue;
    const longest = Math.max(...chunks.map((chunk) => outputSeconds(plan, chunk) ?? 0));
    const each = cost.job + (seek + (pictures * longest) / duration) / pace;
    const rounds = Math.ceil(chunks.length / slots);
    const stitching =
      cost.stitch.base + chunks.length * cost.stitch.chunk + duration * cost.stitch.output_second;
    const seconds = cost.start + Math.max(rounds * each, cost.job + sound) + stitching;
    if (best === null || seconds < best.seconds)
      best = { chunk_seconds: length, chunks: chunks.length, seconds };
  }
  return best;
}

function paceOf(cores: number): number {
  const { threads } = slotsFor(cores);
  return threads === 1 ? 1 : threads * NATIVE_COSTS.parallel;
}
