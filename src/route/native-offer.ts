import type { Plan } from "../media/plan.ts";
import type { RefusalReason } from "../media/refusal.ts";
import type { Source } from "../media/source.ts";
import { isCopy } from "../media/video-plan.ts";
import { NATIVE_COST, NATIVE_MEMORY, type NativeWork, nativeWork } from "./native-cost.ts";
import { bestCut, type NativeHost, type NativeTime, slotsFor, uncutTime } from "./native-time.ts";
import type { Offer } from "./offer.ts";

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
