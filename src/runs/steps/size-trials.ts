import type { Plan } from "../../media/plan.ts";
import { bytesBesidePictures } from "../../media/rates.ts";
import type { Source } from "../../media/source.ts";

/** One attempt to encode a video within `target_size`. */
export interface SizeTrial {
  /** Number of the trial, from 1. */
  number: number;
  /** Whether the source is encoded although it could be copied. */
  encodes: boolean;
  /** Names of the encoders that missed the size. */
  missed: readonly string[];
  /** Bits per second; null for the plan's own. */
  bitrate: number | null;
  /** Earlier encodes by the same encoder. */
  before: number;
}

export const FIRST_TRIAL: SizeTrial = { number: 1, encodes: false, missed: [], bitrate: null, before: 0 };

interface Tried {
  plan: Plan;
  choice: { encoder: string };
  source: Source;
  /** Bytes of the file. */
  size: number;
  /** Maximum bytes. */
  limit: number;
}

// Hardware encoders and OpenH264 may miss repeatedly, whatever the correction; ffmpeg's encoders do not.
const MAX_TRIALS: Readonly<Record<string, number>> = { webcodecs: 2 };
const USUAL_TRIALS = 3;
const AIM = 0.985;
const LEAST_BITRATE = 1000;

/** Returns the next trial after one that exceeded the limit; null when there is none. */
export function nextSizeTrial(
  trial: SizeTrial,
  { plan, choice, source, size, limit }: Tried,
): SizeTrial | null {
  const { video } = plan;
  const next = { ...trial, number: trial.number + 1 };
  if (video?.mode !== "encode") return trial.encodes ? null : { ...next, encodes: true };
  if (!("bitrate" in video.rate)) return null;
  const rest = bytesBesidePictures(plan, source);
  const bitrate = Math.floor((video.rate.bitrate * (AIM * limit - rest)) / Math.max(1, size - rest));
  const before = trial.before + 1;
  const { encoder } = choice;
  if (before < (MAX_TRIALS[encoder] ?? USUAL_TRIALS) && bitrate >= LEAST_BITRATE)
    return { ...next, bitrate, before };
  if (!(encoder in MAX_TRIALS)) return null;
  return { ...next, missed: [...trial.missed, encoder], bitrate: null, before: 0 };
}

/** Returns a plan with another video bitrate; null keeps the plan's own. */
export function withBitrate(plan: Plan, bitrate: number | null): Plan {
  const { video } = plan;
  return bitrate === null || video?.mode !== "encode"
    ? plan
    : { ...plan, video: { ...video, rate: { bitrate } } };
}
