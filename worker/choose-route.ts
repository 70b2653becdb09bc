import type { Source } from "../src/core/source.ts";
import type { Encoder } from "../src/encoders/encoder.ts";
import type { LightEncoder } from "../src/encoders/light.ts";
import { secondsOf } from "../src/encoders/light-cost.ts";
import { chooseLevel } from "../src/encoders/light-estimate.ts";
import { LIGHT_LIMITS } from "../src/encoders/light-limits.ts";
import { createChunks, type Plan } from "../src/plan/index.ts";
import { chooseRoute, type Route, type RouteHost } from "../src/plan/route.ts";

/** What a host has to encode with. */
export interface RouteMeans {
  light: LightEncoder;
  native: Encoder;
  /** Native encoders that there are, and the processors of each. */
  instances: number;
  cores: number;
  max_in_flight: number;
}

/** Builds the choice of the route of a plan from what the encoders say of it. */
export function createRoute(means: RouteMeans): (plan: Plan, source: Source) => Route {
  const { light, native, instances, cores, max_in_flight } = means;
  return (plan, source) => {
    const refusal = native.can(plan, source);
    return chooseRoute(plan, source, {
      light: lightPart(light, plan, source),
      native: { refusal, instances, cores },
      max_in_flight,
    });
  };
}

function lightPart(light: LightEncoder, plan: Plan, source: Source): RouteHost["light"] {
  const chunk_seconds = plan.kind === "video" ? light.chunkSeconds(plan, source) : null;
  const cut = chunk_seconds === null ? plan : { ...plan, chunks: cutEvenly(plan, chunk_seconds) };
  const time = secondsOf(plan, source, chooseLevel(plan, source, LIGHT_LIMITS.memory));
  const seconds = time && time.pictures + time.sound;
  return { refusal: light.can(cut, source), seconds, chunk_seconds };
}

function cutEvenly(plan: Plan, chunk_seconds: number) {
  const { start, end, duration, video, audio } = plan;
  const encodes_video = video?.mode === "encode";
  const fps = video?.mode === "encode" ? video.fps : null;
  return createChunks(
    { start, end, duration, encodes_video, has_audio: audio !== null, fps },
    { chunk_seconds },
  );
}
