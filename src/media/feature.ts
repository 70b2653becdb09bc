import type { z } from "zod";
import type { EncodeKind } from "./formats.ts";
import type { SourceFacts } from "./source-facts.ts";

/** An engine that carries features out: a build of ffmpeg, or one of the browser's own encoders. */
export type Engine = "native" | "stock" | "fast" | "webcodecs" | "canvas" | "avif";

/**
 * The stages of a picture's or a sound's filters, in this order. `retime` and `clean` precede the frame rate and the geometry
 * (rotate, crop, scale, pad), which are not stages, because everything else depends on them. `profile` and `tone` follow scaling;
 * `profile` precedes the background of pictures that become opaque, and `tone` is for opaque pictures. Filters of finished pictures have no stage: see `over`.
 */
export const STAGES = ["retime", "clean", "profile", "tone"] as const;
export type Stage = (typeof STAGES)[number];

/** Color properties under ffmpeg's names; null when unknown. */
export interface ColorTags {
  primaries: string | null;
  transfer: string | null;
  matrix: string | null;
}

/** The facts that a filter may depend on besides its own part of the plan. */
export interface FilterContext {
  engine: Engine;
  /** The source's color tags. */
  color: ColorTags;
  /** Whether it stores RGB in 16 bits. */
  deep: boolean;
}

/** A filter of one picture, or of two: the pictures so far, and those of `second`, a chain that starts at another input. */
export type Filter = string | { second: string; filter: string };

/** The facts that drawing over finished pictures depends on. */
export interface OverContext {
  /** Seconds of output before the first picture. */
  at: number;
  /** Frames per second, as ffmpeg reads them; null for pictures that keep their own times. */
  fps: string | null;
  /** The YUV of a video; null for the RGB of an image. */
  yuv: {
    /** The scale filter's name of the matrix. */
    matrix: string;
    depth: 8 | 10;
    /** The level of graphics white, as a share of the signal. */
    white: number;
  } | null;
  /** Flags of the scaler. */
  flags: string;
  /** Paths of the plan's extra files. */
  files: readonly string[];
}

/** Why an option cannot use a file that it names. */
export type FileFault = "not_picture" | "not_video" | "duration_unknown";

/** The rules for a file that an option names and that is not media. */
export interface DataFile {
  /** Completes the message “The file must be …”, such as `a CUBE lookup table`. */
  what: string;
  maxBytes: number;
  /** Number of leading bytes that `formatOf` needs; absent if it needs the whole file. */
  head?: number;
  /** Returns the format of a file with these bytes; null if the option cannot use it. */
  formatOf(bytes: Uint8Array): string | null;
}

/** Width and height in pixels. */
export interface PictureSize {
  width: number;
  height: number;
}

/** The size of a picture that was made smaller, and the factor that scaled both sides. */
export interface ShrunkSize extends PictureSize {
  scale: number;
}

/** Schemas by kind. */
export type Variants = { readonly [K in EncodeKind]?: z.ZodType };

/** An option: who has it, what it may be, and how a form shows it. */
export interface Option<
  S extends z.ZodType = z.ZodType,
  K extends EncodeKind = EncodeKind,
  V extends Variants = Variants,
> {
  kinds: readonly K[];
  schema: S;
  /** Schemas of kinds whose fields, bounds or description differ. */
  schemas?: V;
  /** The value that changes nothing; absent where only omission does. */
  default?: NonNullable<z.infer<S>>;
  /** The kinds in which its value, or each object of its list, is a {@link Drawing} with times; absent if the option draws nothing. */
  timedKinds?: readonly K[];
  /** Whether joined videos exclude it, because each would need its own value, or it must read all audio before the join. */
  alone?: true;
  /** Returns whether a value requires an encode of the pictures; by default, every value but the default and an empty list does. */
  encodes?(value: z.infer<S>): boolean;
  /** The file that it names, if that is not media. */
  file?: DataFile;
  /** Returns why the option cannot use a file that it names; null when it can. */
  refuseFile?(source: SourceFacts): FileFault | null;
  /** Whether it is allowed for a copy. */
  copyable?: true;
  /** How a form shows the option; by default as a choice among values. */
  control?: "number";
  /** Whether the form has a fixed place for it; otherwise it joins a general list. */
  placed?: true;
  /** The values that a choice offers; those of the schema when absent. */
  choices?: readonly NonNullable<z.infer<S>>[];
  words: OptionWords<z.infer<S>>;
}

/** The English of an option. */
export interface OptionWords<V> {
  label: string;
  /** Labels of the fields of an object, or of each object in a list. */
  fields?: Readonly<Record<string, string>>;
  /** Unit of a number, shown after the label. */
  unit?: string;
  /** The name of a choice; undefined for omission. */
  choice?(value: V | undefined): string;
  /** The meaning of an empty field. */
  empty?: string;
  hint?(value: V | undefined): string | undefined;
}

/** Options by name, in the order of documents. */
export type OptionTable = Readonly<Record<string, Option>>;

/** The values of options; those that a form sends may be incomplete. */
export type OptionValues<O extends OptionTable> = { [N in keyof O]?: z.infer<O[N]["schema"]> | undefined };

/** Options that belong together. */
export interface OptionGroup<O extends OptionTable = OptionTable> {
  options: O;
  /** Describes their effect on the output, as a part of a list such as `WebM, VP9, 640 wide`; null for none. */
  summary?(options: OptionValues<O>): string | null;
}

/** The cost of a feature for an engine, in addition to the work without it. */
export interface FeatureCost {
  /** Seconds of one processor per million pixels encoded. */
  seconds: number;
  /** MiB per million pixels of an output picture. */
  memory: number;
  /** MiB for a job, whatever the size of its pictures; absent for none. */
  fixed_memory?: number;
}

/** The part of a plan that has a feature's fields: the plan itself, encoded pictures of every kind, or those of videos. */
export type PlanPart = "plan" | "pictures" | "video";

type Fields = Readonly<Record<string, z.ZodType>>;
type FieldValues<F extends Fields> = z.infer<z.ZodObject<F>>;

/** A color property of a source that a feature removes from its pictures. */
export type ColorLoss = "hdr";

/** A change to pictures or audio, from its options to its filters. */
export interface Feature<
  O extends OptionTable = OptionTable,
  F extends Fields = Fields,
  C extends string = string,
  P extends PlanPart = PlanPart,
> extends OptionGroup<O> {
  /** Fields that it adds to the plan, as stored and as sent to a container. */
  fields: F;
  /** The part of the plan that has its fields; absent where the plan's schema names them. */
  part?: P;
  /**
   * Returns whether options change the output while a picture of the source lasts, as a fade does, so that long pictures are repeated;
   * absent if only the times of its drawings do.
   */
  moves?(options: OptionValues<O>): boolean;
  /** Plans its fields of pictures that are encoded at a size in a codec; the codec is null for images. */
  plan?(
    options: OptionValues<O>,
    source: SourceFacts,
    codec: string | null,
    size: PictureSize,
  ): FieldValues<F>;
  /** Plans its fields of the plan itself, once everything else is planned. It is called for each joined video, and the results are merged. */
  planWhole?(planned: Planned, source: SourceFacts, options: OptionValues<O>): FieldValues<F>;
  /** Whether a plan needs it; by default, if any of its fields is neither absent nor false. */
  isNeeded?(planned: Planned): boolean;
  /** The engines that can do it: always, or for some sources. */
  doneBy: Partial<Record<Engine, true | ((context: FilterContext) => boolean)>>;
  refusal: { code: C; clause(engine: string): string };
  stage?: Stage;
  pictures?(fields: Partial<FieldValues<F>>, context: FilterContext): readonly string[];
  sound?(fields: Partial<FieldValues<F>>): readonly string[];
  /** Returns the colors to which it converts pictures of a height; null when they keep theirs. */
  color?(fields: Partial<FieldValues<F>>, size: Pick<PictureSize, "height">): ColorTags | null;
  /** Returns the color properties that it removes from pictures. */
  losses?(fields: Partial<FieldValues<F>>): readonly ColorLoss[];
  /** Filters that run after all others, on finished pictures: scaled and padded, YUV in a video and RGB in an image. */
  over?(fields: Partial<FieldValues<F>>, context: OverContext): readonly Filter[];
  /** Returns its fields for pictures that are made smaller to stay within `max_bytes`; absent if they do not depend on the size. */
  shrink?(fields: Partial<FieldValues<F>>, size: ShrunkSize): Partial<FieldValues<F>>;
  cost?(fields: Partial<FieldValues<F>>): Partial<Record<Engine, FeatureCost>>;
}

/** The facts of a plan that features may depend on, and the plan's other fields by name. Joined videos have one for each part. */
export interface Planned extends Readonly<Record<string, unknown>> {
  kind: EncodeKind;
  format: string;
  audio: { mode: string } | null;
  /** The fields of the pictures that are encoded; null for none. */
  pictures: Readonly<Record<string, unknown>> | null;
  /** The source of the part; null for the input. */
  source: SourceFacts | null;
  /** Share of the output's pictures, 0 to 1. */
  share: number;
}

/** Something that an option draws over pictures: its times, in seconds of the output, if it has any. */
export interface Drawing {
  start?: number | undefined;
  end?: number | undefined;
}

/** Returns the drawings of an option: its value, or the objects of its list. */
export function drawings(value: unknown): readonly Drawing[] {
  return Array.isArray(value) ? value : typeof value === "object" && value !== null ? [value] : [];
}

/** Returns whether the value of an option differs from its default. */
export function changesDefault(definition: { default?: unknown }, value: unknown): boolean {
  return value !== undefined && value !== definition.default;
}

/** Returns an option with its types. */
export function option<
  S extends z.ZodType,
  const K extends EncodeKind,
  V extends Variants = Record<never, never>,
>(definition: Option<S, K, V>): Option<S, K, V> {
  return definition;
}

/** Returns options that are planned centrally, with their types. */
export function optionGroup<const O extends OptionTable>(group: OptionGroup<O>): OptionGroup<O> {
  return group;
}

/** Returns a feature with its types. */
export function feature<
  const O extends OptionTable,
  const F extends Fields,
  const C extends string,
  const P extends PlanPart = never,
>(definition: Feature<O, F, C, P>): Feature<O, F, C, P> {
  return definition;
}
