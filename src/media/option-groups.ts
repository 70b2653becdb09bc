import type { z } from "zod";
import type { MediaError } from "./errors.ts";
import type { InputRole } from "./extra-inputs.ts";
import {
  type DataFile,
  type Drawing,
  changesDefault as differs,
  drawings,
  type Option,
  type OptionGroup,
} from "./feature.ts";
import { animation } from "./features/animation.ts";
import { audioFilters } from "./features/audio-filters.ts";
import { audioCodec, audioFormat } from "./features/audio-format.ts";
import { encryption } from "./features/encryption.ts";
import { fps } from "./features/fps.ts";
import { geometry } from "./features/geometry.ts";
import { iFrames } from "./features/i-frames.ts";
import { ladder } from "./features/ladder.ts";
import { metadata } from "./features/metadata.ts";
import { byteLimit, quality, rate } from "./features/rate.ts";
import { span } from "./features/span.ts";
import { stills } from "./features/stills.ts";
import { storyboard } from "./features/storyboard.ts";
import { track } from "./features/track.ts";
import { peaks, waveformPicture } from "./features/waveform.ts";
import { FEATURES } from "./features.ts";
import type { EncodeKind } from "./formats.ts";
import * as errors from "./plan-errors.ts";
import type { SourceFacts } from "./source-facts.ts";

// Documents list joined videos before subtitles; FEATURES has the order of refusals.
const { concat, transition, burn, ...features } = FEATURES;

/** All options, in the order in which requests and documents list them. */
const OPTION_GROUPS = [
  iFrames,
  encryption,
  ladder,
  quality,
  geometry,
  fps,
  animation,
  rate,
  peaks,
  audioCodec,
  track,
  audioFormat,
  audioFilters,
  storyboard,
  span,
  waveformPicture,
  byteLimit,
  ...Object.values(features),
  concat,
  transition,
  burn,
  stills,
  metadata,
] as const;

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

const GROUPS: readonly OptionGroup[] = OPTION_GROUPS;
const OPTIONS = GROUPS.flatMap(({ options }) => Object.entries(options) as [OptionName, Option][]);

function schemaFor(kind: EncodeKind, { schema, schemas }: Option): z.ZodType {
  return schemas?.[kind] ?? schema;
}

/** Returns the schemas of a kind's options. */
export function optionSchemas<K extends EncodeKind>(kind: K): OptionSchemas<K> {
  const own = OPTIONS.filter(([, { kinds }]) => kinds.includes(kind));
  return Object.fromEntries(own.map(([name, each]) => [name, schemaFor(kind, each)])) as OptionSchemas<K>;
}

/** Returns the names of a kind's options. */
export function optionNames(kind: EncodeKind): OptionName[] {
  return OPTIONS.flatMap(([name, { kinds }]) => (kinds.includes(kind) ? [name] : []));
}

/** Returns the names of a kind's options that have no fixed place in the form. */
export function unplacedNames(kind: EncodeKind): OptionName[] {
  return OPTIONS.flatMap(([name, { kinds, placed }]) => (kinds.includes(kind) && !placed ? [name] : []));
}

/** Returns whether a value of an option differs from its default. */
export function changesDefault(name: string, value: unknown): boolean {
  return differs(find(name) ?? {}, value);
}

/** Returns whether an option is allowed with `mode: "copy"`. */
export function isCopyable(name: string): boolean {
  return find(name)?.copyable === true;
}

/** Returns the rules for the files of a role; null if they are media. */
export function dataFileOf(role: InputRole): DataFile | null {
  return find(role)?.file ?? null;
}

/** Returns the error of a file that is unsuitable for its role; null when it is suitable. */
export function refuseFile(role: InputRole, source: SourceFacts): MediaError | null {
  const fault = find(role)?.refuseFile?.(source) ?? null;
  return fault && errors.fileUnsuitable({ fault, source });
}

/** Returns whether options draw anything over the pictures, apart from subtitles. */
export function drawsOver(options: object): boolean {
  const values = new Map<string, unknown>(Object.entries(options));
  return OPTIONS.some(([name, { timedKinds }]) => timedKinds && drawings(values.get(name)).length > 0);
}

/**
 * Changes each timed drawing of a kind, and returns the options that draw them. If `change` returns null, the drawing is removed; an
 * option with no drawing left is absent.
 */
export function mapTimedDrawings(
  kind: EncodeKind,
  options: object,
  change: (drawing: Drawing) => object | null,
): Readonly<Record<string, unknown>> {
  return mapDrawings(options, (kinds) => kinds.includes(kind), change);
}

/** Returns options without the times of their drawings, except those that a kind has. */
export function withoutTimes<T extends object>(kind: EncodeKind, options: T): T {
  return { ...options, ...mapDrawings(options, (kinds) => !kinds.includes(kind), untimed) };
}

/** Returns a drawing without its times. */
export function untimed({ start: _start, end: _end, ...drawing }: Drawing): object {
  return drawing;
}

function mapDrawings(
  options: object,
  includes: (kinds: readonly EncodeKind[]) => boolean,
  change: (drawing: Drawing) => object | null,
): Readonly<Record<string, unknown>> {
  const values = new Map<string, unknown>(Object.entries(options));
  const entries = OPTIONS.flatMap(([name, { timedKinds }]) => {
    if (!timedKinds || !includes(timedKinds)) return [];
    const value = values.get(name);
    const changed = drawings(value).flatMap((each) => change(each) ?? []);
    return changed.length > 0 ? [[name, Array.isArray(value) ? changed : changed[0]] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Returns the names of the options that joined videos cannot have. */
export function aloneNames(): string[] {
  return OPTIONS.flatMap(([name, { alone }]) => (alone ? [name] : []));
}

/** Summarizes the options of a kind, one text for each group that `includes` selects; omits groups with invalid values. */
export function summarizeOptions(
  kind: EncodeKind,
  values: Readonly<Record<string, unknown>>,
  includes: (group: object) => boolean,
): string[] {
  return GROUPS.filter(includes).flatMap(({ options, summary }) => {
    const own = Object.entries(options).filter(([, { kinds }]) => kinds.includes(kind));
    if (!own.every(([name, each]) => schemaFor(kind, each).safeParse(values[name]).success)) return [];
    return summary?.(Object.fromEntries(own.map(([name]) => [name, values[name]]))) ?? [];
  });
}

/** Returns the label of an option, or of its field, such as `overlay.url`; undefined when it is unknown. */
export function optionLabel(path: string): string | undefined {
  const [name = "", field] = path.split(".");
  const words = find(name)?.words;
  return field === undefined ? words?.label : words?.fields?.[field];
}

/** The form control of a field of an object. */
export interface FieldControl {
  name: string;
  label: string;
  /** A length is a number of pixels or a percentage. */
  type: "number" | "url" | "length" | "text";
  /** An example of a value. */
  example: string | undefined;
  /** The values to choose from; null if any is allowed. */
  choices: readonly unknown[] | null;
}

/** The form control of an option. */
export interface OptionControl {
  label: string;
  hint: string | undefined;
  /** The meaning of an empty field. */
  empty: string | undefined;
  default: unknown;
  /** The values to choose from (undefined omits the option); null for a number or an object. */
  choices: { value: unknown; label: string }[] | null;
  /** The fields of an object (`max` is null), or of each object in a list of at most `max`; null for any other value. */
  objects: { fields: FieldControl[]; max: number | null } | null;
}

/** Returns the form control of a kind's option and its value; throws a RangeError when the kind lacks the option. */
export function optionControl(kind: EncodeKind, name: OptionName, value: unknown): OptionControl {
  const each = OPTIONS.find(([own, { kinds }]) => own === name && kinds.includes(kind))?.[1];
  if (!each) throw errors.optionMissing({ kind, name });
  const { words, control } = each;
  const schema = schemaFor(kind, each);
  const fields = fieldControls(schema, words.fields ?? {});
  return {
    label: words.unit ? `${words.label} (${words.unit})` : words.label,
    hint: words.hint?.(value),
    empty: words.empty,
    default: each.default,
    choices: control === "number" || fields ? null : choicesOf(each, value),
    objects: fields && { fields, max: maxLength(schema) },
  };
}

function typeOfField({ type }: z.ZodType): FieldControl["type"] {
  return type === "number" ? "number" : type === "union" ? "length" : "text";
}

function maxLength(schema: z.ZodType): number | null {
  const inner = unwrap(schema);
  if (!("element" in inner)) return null;
  const limits = (inner._zod.def.checks ?? []).map(({ _zod: { def } }) => Object(def).maximum);
  return Math.min(...limits.filter((limit) => typeof limit === "number"));
}

function fieldControls(schema: z.ZodType, labels: Readonly<Record<string, string>>): FieldControl[] | null {
  const inner = unwrap(schema);
  const item = "element" in inner ? unwrap((inner as z.ZodArray<z.ZodType>).element) : inner;
  if (!("shape" in item)) return null;
  const { shape } = item as z.ZodObject<Record<string, z.ZodType>>;
  return Object.entries(labels).flatMap(([name, label]) => {
    const field = shape[name];
    if (!field) return [];
    const example = (field.meta() ?? unwrap(field).meta())?.example;
    const choices = valuesOf(field);
    return {
      name,
      label,
      type: name === "url" ? "url" : typeOfField(unwrap(field)),
      example: example === undefined ? undefined : String(example),
      choices: choices.length > 0 ? choices : null,
    };
  });
}

function choicesOf({ words, schema, default: usual, ...each }: Option, value: unknown) {
  const choices: readonly unknown[] = each.choices ?? valuesOf(schema);
  const isChoice = choices.some((choice) => String(choice) === String(value));
  const all = value === undefined || isChoice ? choices : inOrder([...choices, value]);
  const values = usual === undefined ? [undefined, ...all] : all;
  return values.map((choice) => ({ value: choice, label: words.choice?.(choice) ?? String(choice) }));
}

function inOrder(values: readonly unknown[]): readonly unknown[] {
  return values.every((value) => typeof value === "number") ? values.toSorted((a, b) => a - b) : values;
}

function valuesOf(schema: z.ZodType): readonly unknown[] {
  const inner = unwrap(schema);
  return inner.type === "enum" ? (inner as z.ZodEnum).options : [];
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema.type === "optional" ? (schema as z.ZodOptional<z.ZodType>).unwrap() : schema;
}

function find(name: string): Option | undefined {
  return OPTIONS.find(([own]) => own === name)?.[1];
}
