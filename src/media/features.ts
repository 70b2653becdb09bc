import type { z } from "zod";
import {
  type ColorLoss,
  type ColorTags,
  changesDefault,
  drawings,
  type Engine,
  type Feature,
  type FeatureCost,
  type Filter,
  type FilterContext,
  type OverContext,
  type PictureSize,
  type Planned,
  type PlanPart,
  type ShrunkSize,
  STAGES,
  type Stage,
} from "./feature.ts";
import { auto_quality } from "./features/auto-quality.ts";
import { codecs } from "./features/codecs.ts";
import { color_profile, stale_profile } from "./features/color-profile.ts";
import { concat, concat_ranges } from "./features/concat.ts";
import { deinterlace } from "./features/deinterlace.ts";
import { denoise } from "./features/denoise.ts";
import { overlay } from "./features/overlay.ts";
import { partial } from "./features/partial.ts";
import { parts, picture_parts, stream_parts } from "./features/parts.ts";
import { picture_fades } from "./features/picture-fades.ts";
import { smart, smart_depth } from "./features/smart.ts";
import {
  assumed_colors,
  hidden_start,
  icon_masks,
  ignored_profile,
  main_tracks,
  named_format,
  programs,
  restarted,
  seekless_sound,
  truncated,
  untimed,
} from "./features/source-traits.ts";
import { speed } from "./features/speed.ts";
import { burn, caption_color } from "./features/subtitles.ts";
import { text } from "./features/text.ts";
import { tone_map } from "./features/tone-map.ts";
import { transition } from "./features/transition.ts";
import { transparency } from "./features/transparency.ts";
import type { SourceFacts } from "./source-facts.ts";

/** The features that engines carry out, by the names of parts of the plan; within a stage, filters have this order. */
export const FEATURES = {
  speed,
  deinterlace,
  denoise,
  color_profile,
  tone_map,
  transparency,
  overlay,
  text,
  burn,
  caption_color,
  picture_fades,
  concat,
  concat_ranges,
  transition,
  parts,
  picture_parts,
  stream_parts,
  smart,
  smart_depth,
  main_tracks,
  partial,
  assumed_colors,
  restarted,
  seekless_sound,
  untimed,
  hidden_start,
  truncated,
  stale_profile,
  named_format,
  ignored_profile,
  icon_masks,
  programs,
  auto_quality,
  codecs,
} as const;

type Features = typeof FEATURES;
export type FeatureName = keyof Features;
/** The codes of the features' refusals. */
export type FeatureRefusal = Features[FeatureName]["refusal"]["code"];

const ALL = Object.entries(FEATURES) as readonly (readonly [FeatureName, Feature])[];

/** The codes of the features' refusals. */
export const FEATURE_REFUSALS = ALL.map(([, { refusal }]) => refusal.code) as [
  FeatureRefusal,
  ...FeatureRefusal[],
];

/** Returns the features that an engine can carry out, at least for some sources, except those that its build lacks. */
export function engineFeatures(engine: Engine, lacks: readonly FeatureName[] = []): FeatureName[] {
  return ALL.flatMap(([name, { doneBy }]) => (doneBy[engine] && !lacks.includes(name) ? [name] : []));
}

function isNeeded(feature: Feature, planned: Planned): boolean {
  if (feature.isNeeded) return feature.isNeeded(planned);
  const values = (feature.part === "plan" ? planned : planned.pictures) ?? {};
  return Object.keys(feature.fields).some((name) => values[name] !== undefined && values[name] !== false);
}

/** Returns the features that the parts of a plan need. */
export function neededFeatures(parts: readonly Planned[]): FeatureName[] {
  return ALL.flatMap(([name, each]) => (parts.some((part) => isNeeded(each, part)) ? [name] : []));
}

/** Returns whether options need a feature that requires an encode of the pictures. */
export function needsFeature(options: object): boolean {
  const values = new Map(Object.entries(options));
  return ALL.some(([, feature]) =>
    Object.entries(feature.options).some(([name, each]) => {
      const value: unknown = values.get(name);
      if (!changesDefault(each, value)) return false;
      return each.encodes?.(value) ?? !(Array.isArray(value) && value.length === 0);
    }),
  );
}

// A union of functions takes the intersection of their parameters.
type FieldsOf<P extends PlanPart> = {
  [N in FeatureName]: P extends Features[N]["part"] ? (fields: Features[N]["fields"]) => void : never;
}[FeatureName] extends (fields: infer F) => void
  ? F
  : never;

function fieldsOf<P extends PlanPart>(part: P): FieldsOf<P> {
  return Object.assign({}, ...ALL.map(([, each]) => (each.part === part ? each.fields : {})));
}

/** The schemas of the fields of a plan itself that features plan. */
export const PLAN_FIELDS = fieldsOf("plan");

/** The schemas of the fields of encoded pictures of any kind that features plan. */
export const PICTURE_FIELDS = fieldsOf("pictures");

/** The schemas of the fields of an encoded video that features plan. */
export const VIDEO_FIELDS = { ...PICTURE_FIELDS, ...fieldsOf("video") };

/** The fields of a plan itself that features plan. */
export type PlanFields = z.infer<z.ZodObject<typeof PLAN_FIELDS>>;

/** Returns whether options change the output while a picture of the source lasts, as a fade does. */
export function movesPictures(options: object): boolean {
  const values = new Map(Object.entries(options));
  return ALL.some(([, each]) => {
    const timedDrawings = Object.entries(each.options).flatMap(([name, { timedKinds }]) =>
      timedKinds ? drawings(values.get(name)) : [],
    );
    return (
      each.moves?.({ ...options }) ||
      timedDrawings.some(({ start = 0, end }) => start > 0 || end !== undefined)
    );
  });
}

/** Plans the features of a plan as a whole, from its parts, its input and its options. */
export function planWhole(parts: readonly Planned[], source: SourceFacts, options: object): PlanFields {
  const fields = parts.flatMap((part) =>
    ALL.map(([, each]) => each.planWhole?.(part, part.source ?? source, { ...options })),
  );
  return Object.assign({}, ...fields);
}

/** The fields of encoded pictures that features plan. */
export type PictureFields = z.infer<z.ZodObject<typeof VIDEO_FIELDS>>;

/** Plans the features of pictures of a size; the codec is null for images. */
export function planPictures(
  options: object,
  source: SourceFacts,
  codec: string | null,
  size: PictureSize,
): PictureFields {
  return Object.assign({}, ...ALL.map(([, { plan }]) => plan?.({ ...options }, source, codec, size)));
}

/** Returns the refusal of the first feature that a part of a plan needs and an engine lacks; null for none. */
export function refuseFeatures(
  parts: readonly Planned[],
  source: SourceFacts,
  engine: Engine,
  contextOf: (source: SourceFacts, engine: Engine) => FilterContext,
  lacks: readonly FeatureName[] = [],
): { code: FeatureRefusal } | null {
  const refused = ALL.find(([name, each]) => {
    const able = lacks.includes(name) ? false : (each.doneBy[engine] ?? false);
    if (able === true) return false;
    return parts.some(
      (part) => isNeeded(each, part) && (able === false || !able(contextOf(part.source ?? source, engine))),
    );
  });
  return refused ? { code: refused[1].refusal.code as FeatureRefusal } : null;
}

/** Returns the refusal of an engine that lacks a feature for any source, if a part of a plan needs it; otherwise null. */
export function refuseFeature(name: FeatureName, parts: readonly Planned[]): { code: FeatureRefusal } | null {
  const each = FEATURES[name];
  return parts.some((part) => isNeeded(each, part)) ? { code: each.refusal.code } : null;
}

/** Returns the clause that says why an engine, called by its name, refuses. */
export function refusalClause(code: FeatureRefusal, engine: string): string {
  return ALL.find(([, { refusal }]) => refusal.code === code)?.[1].refusal.clause(engine) ?? code;
}

/** Returns the filters of a stage for pictures. */
export function pictureFilters(stage: Stage, fields: object, context: FilterContext): string[] {
  return ALL.flatMap(([, each]) => (each.stage === stage ? (each.pictures?.(fields, context) ?? []) : []));
}

/** Returns the filters of all stages for sound. */
export function soundFilters(fields: object): string[] {
  return STAGES.flatMap((stage) =>
    ALL.flatMap(([, each]) => (each.stage === stage ? (each.sound?.(fields) ?? []) : [])),
  );
}

/** Returns the colors to which features convert pictures of a height; null when they keep those of the source. */
export function convertedColor(fields: object, size: Pick<PictureSize, "height">): ColorTags | null {
  for (const [, each] of ALL) {
    const color = each.color?.(fields, size);
    if (color) return color;
  }
  return null;
}

/** Returns the color properties that features remove from pictures. */
export function colorLosses(fields: object): ColorLoss[] {
  return ALL.flatMap(([, each]) => each.losses?.(fields) ?? []);
}

/** Returns the filters that draw over finished pictures. */
export function overFilters(fields: object, context: OverContext): Filter[] {
  return ALL.flatMap(([, each]) => each.over?.(fields, context) ?? []);
}

/** Returns the fields that change when pictures are made smaller. */
export function shrinkPictures(fields: object, size: ShrunkSize): object {
  return Object.assign({}, ...ALL.map(([, each]) => each.shrink?.(fields, size)));
}

/**
 * Returns the cost of a plan's features for an engine. The seconds of joined videos are weighted by their shares of the pictures; the
 * memory of their filters adds up.
 */
export function featureCost(parts: readonly Planned[], engine: Engine): Required<FeatureCost> {
  const total = { seconds: 0, memory: 0, fixed_memory: 0 };
  for (const [, each] of ALL) {
    let fixed = 0;
    for (const part of parts) {
      const own = isNeeded(each, part) ? each.cost?.(part.pictures ?? {})[engine] : undefined;
      total.seconds += (own?.seconds ?? 0) * part.share;
      total.memory += own?.memory ?? 0;
      fixed = Math.max(fixed, own?.fixed_memory ?? 0);
    }
    total.fixed_memory += fixed;
  }
  return total;
}
