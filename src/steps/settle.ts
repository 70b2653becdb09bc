import { MediaError } from "../core/errors.ts";
import type { EncodeKind } from "../core/formats.ts";
import type { OptionsOf } from "../core/options.ts";
import type { ByteReader } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { chooseEncoder } from "../encoders/choose-encoder.ts";
import type { Encoder } from "../encoders/encoder.ts";
import { createPlan, type Plan } from "../plan/index.ts";
import { readKeyframes } from "../probe/keyframes.ts";

/** What a task or an encode step wants of its source. */
export interface Wish {
  kind: EncodeKind;
  options: OptionsOf<EncodeKind>;
}

/** Who carries a plan out, and how it is cut. */
export interface Way {
  /** Name of the encoder. */
  encoder: string;
  /** Seconds of source in one chunk; null where the plan stays uncut. */
  chunk_seconds: number | null;
  /** Why that encoder, in a few plain words. */
  reason: string;
}

/** What a host has to encode with. */
export interface Hosts {
  /** By their names; at least one. A run whose encoder is not there any more goes on with the first. */
  encoders: readonly Encoder[];
  /** Finds out what encoders can do of an uncut plan, where they have to try it; never rejects. Absent where they know. */
  prepare?(plan: Plan, source: Source): Promise<void>;
  /** Chooses the way of an uncut plan; throws `encoder_unavailable` with the reasons when there is none. */
  route(plan: Plan, source: Source): Way;
}

/** Who carries a wish out, and how. */
export interface Settled extends Pick<Way, "encoder" | "reason"> {
  /** Cut for that encoder, evenly. */
  plan: Plan;
  /** Gives the plan with its cuts at keyframes, whose times are in seconds, ascending. */
  cut(keyframes: readonly number[]): Plan;
}

/** Who carries a wish out, and in which chunks. */
export type Cuts = Pick<Settled, "encoder" | "reason"> & Pick<Plan, "chunks">;

/** Settles how a wish is carried out. Rejects as the plan throws, and `encoder_unavailable` with the reasons when no encoder can. */
export async function settle(hosts: Hosts, source: Source, { kind, options }: Wish): Promise<Settled> {
  const uncut = createPlan(source, kind, options);
  await hosts.prepare?.(uncut, source);
  const { encoder, chunk_seconds, reason } = hosts.route(uncut, source);
  const cut = (keyframes: readonly number[]) =>
    createPlan(source, kind, options, {
      chunk_seconds: chunk_seconds ?? Number.POSITIVE_INFINITY,
      keyframes,
    });
  const plan = cut([]);
  chooseEncoder([encoderOf(hosts.encoders, encoder)], plan, source);
  return { encoder, reason, plan, cut };
}

/** The same with cuts at keyframes of the source, where the encoder can take the chunks that these make; only what has to be remembered. */
export async function settleCuts(
  hosts: Hosts,
  source: Source,
  wish: Wish,
  open: () => Promise<ByteReader>,
  signal: AbortSignal,
): Promise<Cuts> {
  const { encoder, reason, plan, cut } = await settle(hosts, source, wish);
  const even: Cuts = { encoder, reason, chunks: plan.chunks };
  if (plan.kind !== "video" || plan.chunks.length === 1) return even;
  const better = cut(await readKeyframes(await open(), source, signal));
  const fits = encoderOf(hosts.encoders, encoder).can(better, source) === null;
  return fits ? { ...even, chunks: better.chunks } : even;
}

/** Gives the encoder of a name, else the first; throws `encoder_unavailable` when there is none at all. */
export function encoderOf(encoders: Hosts["encoders"], name: string): Encoder {
  const encoder = encoders.find((each) => each.name === name) ?? encoders[0];
  if (!encoder) throw new MediaError("encoder_unavailable", "There are no encoders here.");
  return encoder;
}
