import type { EncodeKind } from "../src/core/formats.ts";
import type { OptionsOf } from "../src/core/options.ts";
import type { ByteReader } from "../src/core/ports.ts";
import type { Source } from "../src/core/source.ts";
import { chooseEncoder } from "../src/encoders/choose-encoder.ts";
import type { Encoder } from "../src/encoders/encoder.ts";
import { createPlan, type Plan } from "../src/plan/index.ts";
import type { Route } from "../src/plan/route.ts";
import { readKeyframes } from "../src/probe/keyframes.ts";
import type { StepTools } from "./step-work.ts";

/** What a task or an encode step wants of its source. */
export interface Wish {
  kind: EncodeKind;
  options: OptionsOf<EncodeKind>;
}

/** Who carries a wish out, and how. */
export interface Settled {
  encoder: Route["encoder"];
  /** Why that encoder, in a few plain words. */
  reason: string;
  /** Cut for that encoder, evenly. */
  plan: Plan;
  /** Gives the plan with its cuts at keyframes, whose times are in seconds, ascending. */
  cut(keyframes: readonly number[]): Plan;
}

/** Who carries a wish out, and in which chunks. */
export type Cuts = Pick<Settled, "encoder" | "reason"> & Pick<Plan, "chunks">;

type Hosts = Pick<StepTools, "encoders" | "route">;

/** Settles how a wish is carried out. Throws as the plan does, and `encoder_unavailable` with the reasons when no encoder can. */
export function settle({ encoders, route }: Hosts, source: Source, { kind, options }: Wish): Settled {
  const { encoder, chunk_seconds, reason } = route(createPlan(source, kind, options), source);
  const cut = (keyframes: readonly number[]) =>
    createPlan(source, kind, options, {
      chunk_seconds: chunk_seconds ?? Number.POSITIVE_INFINITY,
      keyframes,
    });
  const plan = cut([]);
  chooseEncoder([encoderOf(encoders, encoder)], plan, source);
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
  const { encoder, reason, plan, cut } = settle(hosts, source, wish);
  const even: Cuts = { encoder, reason, chunks: plan.chunks };
  if (plan.kind !== "video" || plan.chunks.length === 1) return even;
  const better = cut(await readKeyframes(await open(), source, signal));
  const fits = encoderOf(hosts.encoders, encoder).can(better, source) === null;
  return fits ? { ...even, chunks: better.chunks } : even;
}

/** Gives the encoder that a route names. */
export function encoderOf(encoders: StepTools["encoders"], name: Route["encoder"]): Encoder {
  return (name === "native" ? encoders.native : null) ?? encoders.light;
}
