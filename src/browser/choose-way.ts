import type { Source } from "../core/source.ts";
import { chooseEncoder } from "../encoders/choose-encoder.ts";
import type { Encoder } from "../encoders/encoder.ts";
import { createChunks, type Plan } from "../plan/index.ts";
import type { Way } from "../steps/settle.ts";

/** An encoder of this machine, with what it may tell of itself. */
export interface LocalEncoder extends Encoder {
  /** Jobs that it does at once; absent for one. */
  readonly workers?: number;
  /** Seconds of source that a chunk of an uncut plan should have; null where it is better left whole, as where this is absent. */
  chunkSeconds?(plan: Plan, source: Source): number | null;
  /** Tries what a plan needs on this machine, so that `can` knows; never rejects. */
  prepare?(plan: Plan, source: Source): Promise<void>;
}

/** Chooses the first of the encoders that can carry a plan out, cut as it would have it; throws `encoder_unavailable` with every one's reason. */
export function chooseWay(encoders: readonly LocalEncoder[], plan: Plan, source: Source): Way {
  const hint = (encoder: LocalEncoder) => {
    const seconds = encoder.chunkSeconds?.(plan, source) ?? null;
    return seconds === null ? null : Math.max(seconds, leastSeconds(source));
  };
  const { encoder, reason } = chooseEncoder(
    encoders.map((each) => ({ ...each, can: () => each.can(cutEvenly(plan, hint(each)), source) })),
    plan,
    source,
  );
  const chosen = encoders.find(({ name }) => name === encoder.name);
  const chunk_seconds = chosen ? hint(chosen) : null;
  const cut = describeCut(plan, chunk_seconds, chosen?.workers ?? 1);
  return { encoder: encoder.name, chunk_seconds, reason: cut === null ? reason : `${reason}; ${cut}` };
}

// In a few plain words, as the reasons are.
function describeCut(plan: Plan, seconds: number | null, workers: number): string | null {
  const chunks = cutEvenly(plan, seconds).chunks.filter(({ track }) => track !== "audio").length;
  if (seconds === null || chunks < 2) return null;
  const each = `in ${chunks} chunks of about ${Math.round(seconds)} s, so that a reload repeats one at the most`;
  return workers < 2 ? each : `${each} and ${Math.min(workers, chunks)} are encoded at once`;
}

// Where times are nonsense a small file seems to last for days, and would be cut into thousands of chunks, each read from the start.
const LEAST_BYTES = 16_384;

function leastSeconds({ duration, filesize }: Source): number {
  return duration && filesize ? (duration * LEAST_BYTES) / filesize : 0;
}

function cutEvenly(plan: Plan, chunk_seconds: number | null): Plan {
  if (chunk_seconds === null) return plan;
  const { kind, start, end, duration, video, audio } = plan;
  const needs = {
    ...{ start, end, duration, has_audio: audio !== null, segmented: kind === "adaptive_video" },
    encodes_video: video?.mode === "encode",
    fps: video?.mode === "encode" ? video.fps : null,
  };
  return { ...plan, chunks: createChunks(needs, { chunk_seconds }) };
}
