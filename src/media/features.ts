import type { z } from "zod";
import type { EncodeKind } from "../core/formats.ts";
import {
  type Engine,
  type Feature,
  type FeatureOption,
  type FilterContext,
  type Planned,
  type SourceFacts,
  STAGES,
  type Stage,
} from "./feature.ts";
import { deinterlace } from "./features/deinterlace.ts";
import { denoise } from "./features/denoise.ts";
import { burn, concat, overlay } from "./features/further.ts";
import { speed } from "./features/speed.ts";
import { tone_map } from "./features/tone-map.ts";

/** All features, by the name of their option or of their part of the plan; within a stage their filters have this order. */
export const FEATURES = { speed, deinterlace, denoise, tone_map, overlay, burn, concat } as const;

type Features = typeof FEATURES;
export type FeatureName = keyof Features;
type OptionOf<T> = T extends { option: FeatureOption<infer S, infer K> } ? { K: K; S: S } : never;

/** The rows of a kind's options. */
export type FeatureRows<K extends EncodeKind> = {
  [N in FeatureName as K extends OptionOf<Features[N]>["K"] ? N : never]: OptionOf<Features[N]>["S"];
};
/** The names of all options of features. */
export type FeatureOptionName = {
  [N in FeatureName]: Features[N] extends { option: unknown } ? N : never;
}[FeatureName];
/** The options of all features, as a form reads them. */
export type FeatureOptions = { [N in FeatureOptionName]?: z.infer<OptionOf<Features[N]>["S"]> };
/** The codes of their refusals. */
export type FeatureRefusal = Features[FeatureName]["refusal"]["code"];

type AnyFeature = Feature & { option?: FeatureOption };
const ALL: readonly (readonly [FeatureName, AnyFeature])[] = Object.entries(FEATURES) as never;

/** The codes of the refusals of all features. */
export const FEATURE_REFUSALS = ALL.map(([, { refusal }]) => refusal.code) as [
  FeatureRefusal,
  ...FeatureRefusal[],
];

/** Returns the schemas of the options that a kind has of features. */
export function featureRows<K extends EncodeKind>(kind: K): FeatureRows<K> {
  const rows = ALL.flatMap(([name, { option }]) =>
    option?.kinds.includes(kind) ? [[name, option.schema]] : [],
  );
  return Object.fromEntries(rows) as FeatureRows<K>;
}

/** Returns the names of the options that a kind has of features. */
export function featureNames(kind: EncodeKind): FeatureOptionName[] {
  return Object.keys(featureRows(kind)) as FeatureOptionName[];
}

/** Returns the values of options that ask for nothing. */
export function usualValues(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    ALL.flatMap(([name, { option }]) => (option && "usual" in option ? [[name, option.usual]] : [])),
  );
}

/** Returns the names of the options that joined videos cannot have. */
export function aloneNames(): string[] {
  return ALL.flatMap(([name, { option }]) => (option?.alone ? [name] : []));
}

/** Returns whether options ask a feature for something. */
export function asksFeature(options: object): boolean {
  const asked = new Map(Object.entries(options));
  return ALL.some(([name, { option }]) => {
    const value = asked.get(name);
    return option !== undefined && value !== undefined && value !== option.usual;
  });
}

/** Returns the schemas of the fields of encoded pictures that features plan. */
export const PICTURE_FIELDS = { ...deinterlace.fields, ...denoise.fields, ...tone_map.fields };

/** The fields of encoded pictures that features plan. */
export type PictureFields = z.infer<z.ZodObject<typeof PICTURE_FIELDS>>;

/** Decides what features do to pictures; the codec of images is null. */
export function planPictures(options: object, source: SourceFacts, codec: string | null): PictureFields {
  const given = options as Readonly<Record<string, unknown>>;
  return Object.assign({}, ...ALL.map(([, { plan }]) => plan?.(given, source, codec)));
}

/** Returns why an engine cannot do what a plan needs of features; null when it can. */
export function refuseFeatures(plan: Planned, context: FilterContext): { code: FeatureRefusal } | null {
  for (const [name, { needed, doneBy, refusal }] of ALL) {
    if (!needed(plan)) continue;
    const able = context.lacks?.includes(name) ? false : (doneBy[context.engine] ?? false);
    if (able === false || (able !== true && !able(context))) return { code: refusal.code as FeatureRefusal };
  }
  return null;
}

/** Returns the clause that says why an engine, called by its name, refuses. */
export function refusalClause(code: FeatureRefusal, engine: string): string {
  return ALL.find(([, { refusal }]) => refusal.code === code)?.[1].refusal.clause(engine) ?? code;
}

/** Returns the filters of a stage for pictures. */
export function pictureFilters(stage: Stage, planned: object, context: FilterContext): string[] {
  return ALL.flatMap(([, each]) => (each.stage === stage ? (each.pictures?.(planned, context) ?? []) : []));
}

/** Returns the filters of all stages for sound. */
export function soundFilters(planned: object): string[] {
  return STAGES.flatMap((stage) =>
    ALL.flatMap(([, each]) => (each.stage === stage ? (each.sound?.(planned) ?? []) : [])),
  );
}

/** Returns what the features of a plan cost an engine, per million pixels encoded. */
export function featureCost(plan: Planned, engine: Engine): { seconds: number; memory: number } {
  const costs = ALL.flatMap(([, { needed, cost }]) =>
    needed(plan) ? (cost?.(plan.pictures)[engine] ?? []) : [],
  );
  const sum = (key: "seconds" | "memory") => costs.reduce((all, each) => all + each[key], 0);
  return { seconds: sum("seconds"), memory: sum("memory") };
}

/** Returns what options ask of features, each as a part of a list. */
export function summarizeFeatures(options: Readonly<Record<string, unknown>>): string[] {
  return ALL.flatMap(([name, { option }]) => {
    const value = options[name];
    if (!option || value === undefined || value === option.usual) return [];
    return option.schema.safeParse(value).success ? [option.words.summary(value)] : [];
  });
}

/** Returns the label of an option's field; undefined for options of none. */
export function featureLabel(name: string): string | undefined {
  return ALL.find(([own]) => own === name)?.[1].option?.words.label;
}

/** What a form shows for an option: a choice among values, of which undefined leaves it out. */
export interface FeatureControl {
  name: FeatureOptionName;
  label: string;
  hint: string | undefined;
  choices: { value: unknown; label: string }[];
}

/** Returns the control of an option with its value. */
export function featureControl(name: FeatureOptionName, value: unknown): FeatureControl {
  const option = (FEATURES[name] as { option: unknown }).option as FeatureOption;
  const { words, usual, choices = choicesOf(option.schema) } = option;
  const listed = value === undefined || choices.includes(value) ? choices : [...choices, value];
  const ordered = listed.every((each) => typeof each === "number")
    ? listed.toSorted((a, b) => a - b)
    : listed;
  const none = usual === undefined ? [{ value: undefined, label: words.choice(undefined) }] : [];
  return {
    name,
    label: words.label,
    hint: words.hint?.(value),
    choices: [...none, ...ordered.map((each) => ({ value: each, label: words.choice(each) }))],
  };
}

// A choice of names is its own list.
function choicesOf(schema: z.ZodType): readonly unknown[] {
  const inner = "unwrap" in schema ? (schema as z.ZodOptional<z.ZodType>).unwrap() : schema;
  return "options" in inner ? (inner as z.ZodEnum).options : [];
}
