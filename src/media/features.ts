import type { z } from "zod";
import type { EncodeKind } from "../core/formats.ts";
import type { SourceFacts } from "../core/source-facts.ts";
import {
  type Engine,
  type Feature,
  type Filter,
  type FilterContext,
  type Option,
  type OptionGroup,
  type OverContext,
  type PictureSize,
  type Planned,
  STAGES,
  type Stage,
} from "./feature.ts";
import { deinterlace } from "./features/deinterlace.ts";
import { denoise } from "./features/denoise.ts";
import { burn, concat } from "./features/further.ts";
import { overlay } from "./features/overlay.ts";
import { speed } from "./features/speed.ts";
import { tone_map } from "./features/tone-map.ts";

/** What engines do, by the names of parts of the plan; within a stage, filters have this order. */
export const FEATURES = { speed, deinterlace, denoise, tone_map, overlay, burn, concat } as const;

/** All options, in the order in which requests and documents list them. */
const OPTION_GROUPS = [speed, denoise, overlay] as const;

type Features = typeof FEATURES;
export type FeatureName = keyof Features;
/** The codes of the features' refusals. */
export type FeatureRefusal = Features[FeatureName]["refusal"]["code"];

// One entry for each option of each group.
type Entry<G = (typeof OPTION_GROUPS)[number]> = G extends { options: infer O }
  ? { [N in keyof O & string]: { name: N; option: O[N] } }[keyof O & string]
  : never;
type Row<K, E = Entry> = E extends {
  name: infer N extends string;
  option: Option<infer S, infer Kinds, infer V>;
}
  ? K extends Kinds
    ? { name: N; schema: SchemaFor<K, S, V>; common: S }
    : never
  : never;
type SchemaFor<K, S, V> = K extends keyof V ? (V[K] extends z.ZodType ? V[K] : S) : S;

/** The schemas of a kind's options. */
export type OptionSchemas<K extends EncodeKind> = { [R in Row<K> as R["name"]]: R["schema"] };
/** The names of all options. */
export type OptionName = Entry["name"];
/** The options of all kinds, as a form reads them. */
export type AllOptions = { [R in Row<EncodeKind> as R["name"]]?: z.infer<R["common"]> | undefined };

const ALL = Object.entries(FEATURES) as readonly (readonly [FeatureName, Feature])[];

/** The codes of the features' refusals. */
export const FEATURE_REFUSALS = ALL.map(([, { refusal }]) => refusal.code) as [
  FeatureRefusal,
  ...FeatureRefusal[],
];

/** Returns the features that an engine can carry out, for some sources at least, where its build lacks some. */
export function engineFeatures(engine: Engine, lacks: readonly FeatureName[] = []): FeatureName[] {
  return ALL.flatMap(([name, { doneBy }]) => (doneBy[engine] && !lacks.includes(name) ? [name] : []));
}

/** Returns the features that a plan needs. */
export function neededFeatures(plan: Planned): FeatureName[] {
  return ALL.flatMap(([name, { needed }]) => (needed(plan) ? [name] : []));
}

// Only callers that need options load those that engines know nothing of.
function listOptions(): [OptionName, Option][] {
  const groups: readonly OptionGroup[] = OPTION_GROUPS;
  return groups.flatMap(({ options }) => Object.entries(options) as [OptionName, Option][]);
}

function schemaFor(kind: EncodeKind, { schema, schemas }: Option): z.ZodType {
  return schemas?.[kind] ?? schema;
}

/** Returns the schemas of a kind's options. */
export function optionSchemas<K extends EncodeKind>(kind: K): OptionSchemas<K> {
  const own = listOptions().filter(([, { kinds }]) => kinds.includes(kind));
  return Object.fromEntries(own.map(([name, each]) => [name, schemaFor(kind, each)])) as OptionSchemas<K>;
}

/** Returns the names of a kind's options. */
export function optionNames(kind: EncodeKind): OptionName[] {
  return Object.keys(optionSchemas(kind)) as OptionName[];
}

/** Returns the values of options that change nothing. */
export function defaultValues(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    listOptions().flatMap(([name, each]) => ("default" in each ? [[name, each.default]] : [])),
  );
}

/** Returns the names of the options that joined videos cannot have. */
export function aloneNames(): string[] {
  return listOptions().flatMap(([name, { alone }]) => (alone ? [name] : []));
}

/** Returns whether options need a feature. */
export function needsFeature(options: object): boolean {
  const values = new Map(Object.entries(options));
  return ALL.some(([, feature]) =>
    Object.entries(feature.options).some(([name, each]) => {
      const value: unknown = values.get(name);
      return value !== undefined && value !== each.default;
    }),
  );
}

/** The schemas of the fields of encoded pictures that features plan. */
export const PICTURE_FIELDS = {
  ...deinterlace.fields,
  ...denoise.fields,
  ...tone_map.fields,
  ...overlay.fields,
};

/** The fields of encoded pictures that features plan. */
export type PictureFields = z.infer<z.ZodObject<typeof PICTURE_FIELDS>>;

/** Decides what features do to pictures of a size; the codec of images is null. */
export function planPictures(
  options: object,
  source: SourceFacts,
  codec: string | null,
  size: PictureSize,
): PictureFields {
  return Object.assign({}, ...ALL.map(([, { plan }]) => plan?.({ ...options }, source, codec, size)));
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
export function pictureFilters(stage: Stage, fields: object, context: FilterContext): string[] {
  return ALL.flatMap(([, each]) => (each.stage === stage ? (each.pictures?.(fields, context) ?? []) : []));
}

/** Returns the filters of all stages for sound. */
export function soundFilters(fields: object): string[] {
  return STAGES.flatMap((stage) =>
    ALL.flatMap(([, each]) => (each.stage === stage ? (each.sound?.(fields) ?? []) : [])),
  );
}

/** Returns the filters that draw over finished pictures. */
export function overFilters(fields: object, context: OverContext): Filter[] {
  return ALL.flatMap(([, each]) => each.over?.(fields, context) ?? []);
}

/** Returns what the features of a plan cost an engine, per million pixels encoded. */
export function featureCost(plan: Planned, engine: Engine): { seconds: number; memory: number } {
  const costs = ALL.flatMap(([, { needed, cost }]) =>
    needed(plan) ? (cost?.(plan.pictures)[engine] ?? []) : [],
  );
  const sum = (key: "seconds" | "memory") => costs.reduce((all, each) => all + each[key], 0);
  return { seconds: sum("seconds"), memory: sum("memory") };
}

/** Returns what the options of a kind make of its output, each as a part of a list; invalid ones are left out. */
export function summarizeOptions(kind: EncodeKind, options: Readonly<Record<string, unknown>>): string[] {
  const groups: readonly OptionGroup[] = OPTION_GROUPS;
  return groups.flatMap((group) => summarize(group, kind, options) ?? []);
}

function summarize(
  { options, summary }: OptionGroup,
  kind: EncodeKind,
  values: Readonly<Record<string, unknown>>,
): string | null {
  const valid = Object.entries(options).filter(
    ([name, each]) => each.kinds.includes(kind) && schemaFor(kind, each).safeParse(values[name]).success,
  );
  return summary?.(Object.fromEntries(valid.map(([name]) => [name, values[name]]))) ?? null;
}

/** Returns the label of an option, or of a field of one such as `overlay.url`; undefined for an unknown one. */
export function optionLabel(path: string): string | undefined {
  const [name, field] = path.split(".");
  const words = listOptions().find(([own]) => own === name)?.[1].words;
  return field === undefined ? words?.label : words?.fields?.[field];
}

/** Returns the names of a kind's options that a form shows as a choice. */
export function choiceNames(kind: EncodeKind): OptionName[] {
  return listOptions().flatMap(([name, { kinds, control }]) =>
    kinds.includes(kind) && control === undefined ? [name] : [],
  );
}

/** What a form shows for a choice among values; undefined omits the option. */
export interface OptionControl {
  name: OptionName;
  label: string;
  hint: string | undefined;
  choices: { value: unknown; label: string }[];
}

/** Returns the control of an option with its value. */
export function optionControl(name: OptionName, value: unknown): OptionControl {
  const [, each] = listOptions().find(([own]) => own === name) ?? [];
  if (!each) throw new RangeError(`There is no option ${name}.`);
  const { words, choices = choicesOf(each.schema) } = each;
  const all = value === undefined || choices.includes(value) ? choices : [...choices, value];
  const ordered = all.every((choice) => typeof choice === "number") ? all.toSorted((a, b) => a - b) : all;
  const values = each.default === undefined ? [undefined, ...ordered] : ordered;
  return {
    name,
    label: words.label,
    hint: words.hint?.(value),
    choices: values.map((choice) => ({
      value: choice,
      label: words.choice?.(choice) ?? String(choice),
    })),
  };
}

// The names of an enumeration are the choices.
function choicesOf(schema: z.ZodType): readonly unknown[] {
  const inner = "unwrap" in schema ? (schema as z.ZodOptional<z.ZodType>).unwrap() : schema;
  return "options" in inner ? (inner as z.ZodEnum).options : [];
}
