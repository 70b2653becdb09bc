import { MediaError } from "../core/errors.ts";
import type { Source } from "../core/source.ts";
import { NATIVE_MEMORY, type NativeWork, nativeWork } from "./native-cost.ts";
import { bestCut, type NativeTime, uncutTime } from "./native-time.ts";
import type { Plan } from "./plan.ts";

/** What a host has to encode with, as far as the choice depends on it. */
export interface RouteHost {
  light: {
    /** Null when it can carry the plan out, cut as it would cut it; else the reason why not. */
    refusal: string | null;
    /** Seconds that it takes by its own estimate; null when unknown. */
    seconds: number | null;
    /** Seconds of source in one of its chunks; absent or null where it takes the plan uncut. */
    chunk_seconds?: number | null;
  };
  native: {
    /** Null when it can carry the plan out; else the reason why not. */
    refusal: string | null;
    /** Encoders that there are. */
    instances: number;
    /** Processors of one encoder. */
    cores: number;
    /** Bytes of memory of one encoder; default {@link NATIVE_MEMORY}. */
    memory?: number;
  };
  /** Chunks that may be encoded at once, at most. */
  max_in_flight: number;
}

/** Which encoder does the work, in which way, and why. */
export interface Route {
  encoder: "light" | "native";
  way: "copy" | "light" | "native" | "native in chunks";
  /** Seconds of source in one chunk; null where the plan stays uncut. */
  chunk_seconds: number | null;
  /** In a few plain words, with the figures that decided it. */
  reason: string;
  /** Seconds until the output is there, by estimate; null when the length of the source is unknown. */
  seconds: number | null;
}

/** Where the choice changes. */
export const ROUTE_LIMITS = {
  /** Seconds of work that the light encoder keeps, though a container might be sooner: it costs none. */
  small: 8,
  /** Seconds of an uncut plan up to which it stays whole: more encoders are not worth starting. */
  short: 20,
  /** Chunks must take at most this share of the time of the uncut plan. */
  worth: 0.85,
  /** Seconds of an uncut plan above which it is cut in any case: a lost encoder would cost too much. */
  loss: 900,
} as const;

/**
 * Chooses who carries an uncut plan out, and how it is cut: nothing to re-encode stays where it can be copied, small work on the light
 * encoder, and the rest goes where it is done soonest by estimate. Throws `encoder_unavailable` with every reason when nobody can.
 */
export function chooseRoute(plan: Plan, source: Source, host: RouteHost): Route {
  const { light } = host;
  const work = nativeWork(plan, source);
  const not_native = host.native.refusal ?? refuseMemory(work, host.native.memory ?? NATIVE_MEMORY);
  if (light.refusal !== null && not_native !== null) {
    throw new MediaError(
      "encoder_unavailable",
      `No encoder here can do this (light: ${light.refusal}; native: ${not_native}).`,
    );
  }
  const native = not_native === null ? nativeRoute(plan, work, host) : null;
  if (native === null) return lightRoute(plan, host, null);
  if (light.refusal !== null) return { ...native, reason: `${native.reason}; not light: ${light.refusal}` };
  if (isCopy(plan) || light.seconds === null || light.seconds <= ROUTE_LIMITS.small) {
    return lightRoute(plan, host, null);
  }
  if (native.seconds === null || light.seconds <= native.seconds)
    return lightRoute(plan, host, native.seconds);
  const sooner = `it takes about ${whole(light.seconds)} s, and this about ${whole(native.seconds)} s`;
  return { ...native, reason: `${native.reason}; not light: ${sooner}` };
}

function lightRoute(plan: Plan, { light }: RouteHost, than: number | null): Route {
  const { seconds } = light;
  const encoder = "light";
  if (isCopy(plan)) return { encoder, way: "copy", chunk_seconds: null, reason: COPY, seconds };
  const time =
    seconds === null ? "the work fits its memory and time" : `about ${whole(seconds)} s of computing`;
  const reason = than === null ? time : `${time}; not native: it takes about ${whole(than)} s with its start`;
  return { encoder, way: "light", chunk_seconds: light.chunk_seconds ?? null, reason, seconds };
}

const COPY = "nothing needs re-encoding";

function nativeRoute(plan: Plan, work: NativeWork, { native, max_in_flight }: RouteHost): Route {
  const host = { ...native, max_in_flight };
  const seconds = uncutTime(work, host);
  const encoder = "native";
  if (isCopy(plan)) return { encoder, way: "copy", chunk_seconds: null, reason: COPY, seconds };
  const time =
    work.pictures === null || work.sound === null
      ? "the length of the source is unknown"
      : `about ${whole(work.pictures + work.sound)} s of computing`;
  const cut = bestCut(plan, work, host);
  if (seconds === null || cut === null || !isWorth(cut, seconds)) {
    return { encoder, way: "native", chunk_seconds: null, reason: time, seconds };
  }
  const { chunks, chunk_seconds } = cut;
  const on = native.instances === 1 ? "1 encoder" : `${native.instances} encoders`;
  const reason = `native in chunks: ${time}, ${chunks} chunks of ${chunk_seconds} s on ${on}`;
  return { encoder, way: "native in chunks", chunk_seconds, reason, seconds: cut.seconds };
}

function isWorth(cut: NativeTime, uncut: number): boolean {
  const { short, worth, loss } = ROUTE_LIMITS;
  return uncut > loss || (uncut > short && cut.seconds <= uncut * worth);
}

function isCopy({ video, audio, image }: Plan): boolean {
  return !image && [video, audio].every((track) => track === null || track.mode === "copy");
}

function refuseMemory({ memory }: NativeWork, most: number): string | null {
  if (memory <= most) return null;
  const [needs, has] = [memory, most].map((bytes) => Math.ceil(bytes / 1_048_576));
  return `it takes about ${needs} MB of memory, and ${has} MB are there`;
}

function whole(seconds: number): number {
  return Math.max(1, Math.round(seconds));
}
