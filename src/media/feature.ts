import type { z } from "zod";
import type { EncodeKind } from "../core/formats.ts";

/** What carries features out: the builds of ffmpeg, and the browser's own encoders. */
export type Engine = "native" | "stock" | "fast" | "webcodecs" | "canvas" | "avif";

/**
 * Where a feature's filters stand among those of a picture or a sound, in this order. The geometry (turn, crop, scale, pad) and the
 * frame rate are not features: everything else depends on them.
 */
export const STAGES = ["retime", "clean", "tone"] as const;
export type Stage = (typeof STAGES)[number];

/** What a filter may depend on besides its own part of the plan. */
export interface FilterContext {
  engine: Engine;
  /** The features that this build of the engine lacks, by name; absent for none. */
  lacks?: readonly string[];
  /** The source's color tags, under ffmpeg's names. */
  color: { primaries: string | null; transfer: string | null; matrix: string | null };
}

/** What a feature may know of a source. Not a Source, whose refusals are made of features. */
export interface SourceFacts {
  has_alpha?: boolean | undefined;
  animated?: boolean | undefined;
  kind?: string | undefined;
  interlaced?: boolean | undefined;
  color?: { hdr: boolean } | undefined;
}

/** An option's row: who has it, what it may be, and how a form shows it. */
export interface FeatureOption<S extends z.ZodType = z.ZodType, K extends EncodeKind = EncodeKind> {
  kinds: readonly K[];
  schema: S;
  /** The value that asks for nothing, as a form sends it; absent where only leaving it out does. */
  usual?: z.infer<S>;
  /** Whether joined videos cannot have it. */
  alone?: true;
  /** The values that a form offers; those of the schema when absent. */
  choices?: readonly z.infer<S>[];
  words: {
    label: string;
    /** The name of a choice; undefined for leaving it out. */
    choice(value: z.infer<S> | undefined): string;
    hint?(value: z.infer<S> | undefined): string | undefined;
    /** What the output is, as a part of a list such as `WebM, VP9, 640 wide`. */
    summary(value: z.infer<S>): string;
  };
}

/** What a feature costs an engine, per million pixels encoded. */
export interface FeatureCost {
  seconds: number;
  /** MiB. */
  memory: number;
}

type Shape = Readonly<Record<string, z.ZodType>>;

/** One thing that is done to pictures or sound, from its option to its filters. */
export interface Feature<F extends Shape = Shape, C extends string = string> {
  /** Its part of the plan, as stored and as sent to a container. */
  fields: F;
  /** Decides its part of the plan of a codec, which for images is null. */
  plan?(
    options: Readonly<Record<string, unknown>>,
    source: SourceFacts,
    codec: string | null,
  ): z.infer<z.ZodObject<F>>;
  /** Whether a plan needs it. */
  needed(plan: Planned): boolean;
  /** The engines that can do it: always, or for some sources. */
  doneBy: Partial<Record<Engine, true | ((context: FilterContext) => boolean)>>;
  refusal: { code: C; clause(engine: string): string };
  stage?: Stage;
  pictures?(planned: Partial<z.infer<z.ZodObject<F>>>, context: FilterContext): readonly string[];
  sound?(planned: Partial<z.infer<z.ZodObject<F>>>): readonly string[];
  cost?(planned: Partial<z.infer<z.ZodObject<F>>>): Partial<Record<Engine, FeatureCost>>;
}

/** What a feature may look at in a plan. */
export interface Planned {
  speed?: number | undefined;
  concat?: unknown;
  audio: { mode: string } | null;
  /** The pictures that are encoded; empty for none. */
  pictures: Readonly<Record<string, unknown>>;
}

/** A feature that follows from the source alone. */
export function feature<const F extends Shape, const C extends string>(made: Feature<F, C>): Feature<F, C> {
  return made;
}

/** A feature that an option asks for. */
export function optionFeature<
  S extends z.ZodType,
  const K extends EncodeKind,
  const F extends Shape,
  const C extends string,
>(option: FeatureOption<S, K>, made: Feature<F, C>): Feature<F, C> & { option: FeatureOption<S, K> } {
  return { option, ...made };
}
