import { z } from "zod";
import { MediaError } from "../../src/media/errors.ts";
import { FACTS, type SettingFacts } from "./fields.ts";
import { ServiceSettings } from "./schema.ts";

/** The variables of a host: texts, or the numbers and booleans of `wrangler.toml`. */
export type Variables = Readonly<Record<string, unknown>>;

/** Thrown for missing or malformed settings. The message is one line and shows the values, except those that may hold a secret. */
export class SettingsError extends MediaError {
  /** The message without values, for responses that anybody may read. */
  readonly summary: string;

  constructor(problems: readonly Problem[]) {
    const message = problems.map((problem) => explain(problem, true)).join(" ");
    super("request_invalid", message, { param: problems[0]?.name });
    this.summary = problems.map((problem) => explain(problem, false)).join(" ");
  }
}

/** Reads and checks all settings of a schema. An empty text counts as not set. Throws a {@link SettingsError} that names every missing or malformed setting. */
export function readSettings<T extends z.ZodObject>(schema: T, variables: Variables): z.output<T> {
  const texts = textsOf(schema, variables);
  const { success, data, error } = schema.safeParse(texts);
  if (success) return data;
  const problems = new Map<string, Problem>();
  for (const { path } of error.issues) {
    const [name = "", entry] = path.map(String);
    if (problems.has(name)) continue;
    problems.set(name, { name, facts: factsOf(schema.shape[name]), value: texts[name], entry });
  }
  throw new SettingsError([...problems.values()]);
}

/** Returns the texts of a schema's settings that are set. */
export function textsOf(schema: z.ZodObject, variables: Variables): Record<string, string> {
  const texts = Object.keys(schema.shape).map((name) => [name, textOf(variables[name])] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== "")) as Record<string, string>;
}

/** Returns the facts of a setting. */
export function factsOf(field: unknown): SettingFacts {
  const inner = field instanceof z.ZodPrefault || field instanceof z.ZodOptional ? field.unwrap() : field;
  // Every field of a schema is made by a function of fields.ts, which registers its facts.
  return FACTS.get(inner as z.ZodType) as SettingFacts;
}

/** Returns the text of a setting's default; undefined for none. */
export function defaultOf(field: unknown): string | undefined {
  return field instanceof z.ZodPrefault ? String(field.def.defaultValue) : undefined;
}

interface Problem {
  name: string;
  facts: SettingFacts;
  /** The text as given; undefined when the setting is absent. */
  value: string | undefined;
  /** Index in a list. */
  entry: string | undefined;
}

const MAX_SHOWN = 100;

function explain({ name, facts, value, entry }: Problem, show: boolean): string {
  if (value === undefined) return `${name} must be set to ${facts.accepts}.`;
  const rule = `${name} must be ${facts.accepts}`;
  if (show && !facts.hidden) return `${rule}, not ${JSON.stringify(value.slice(0, MAX_SHOWN))}.`;
  return entry === undefined ? `${rule}.` : `${rule}; entry ${Number(entry) + 1} is not.`;
}

function textOf(value: unknown): string {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value).trim() : "";
}

const parsed = new WeakMap<object, { settings: ServiceSettings } | { error: unknown }>();

/**
 * Reads the settings of the service Worker, once per isolate; throws a {@link SettingsError}. Durable Objects with alarms must not call it in
 * their constructor, because the platform gives up an alarm whose object fails to start.
 */
export function serviceSettings(env: object): ServiceSettings {
  const result = parsed.get(env) ?? parse(env);
  parsed.set(env, result);
  if ("error" in result) throw result.error;
  return result.settings;
}

function parse(env: object): { settings: ServiceSettings } | { error: unknown } {
  try {
    return { settings: readSettings(ServiceSettings, { ...env }) };
  } catch (error) {
    return { error };
  }
}
