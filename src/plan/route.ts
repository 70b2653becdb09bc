import { MediaError } from "../core/errors.ts";
import type { Source } from "../core/source.ts";
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
}

/** Chooses who carries a plan out; throws `encoder_unavailable` with every reason when nobody can. */
export function chooseRoute(_plan: Plan, _source: Source, { light, native }: RouteHost): Route {
  if (light.refusal === null) {
    const chunk_seconds = light.chunk_seconds ?? null;
    return { encoder: "light", way: "light", chunk_seconds, reason: "the work fits its memory and time" };
  }
  const why = `not light: ${light.refusal}`;
  if (native.refusal === null) return { encoder: "native", way: "native", chunk_seconds: null, reason: why };
  throw new MediaError(
    "encoder_unavailable",
    `No encoder here can do this (light: ${light.refusal}; native: ${native.refusal}).`,
  );
}
