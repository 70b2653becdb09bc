import { z } from "zod";
import { MediaError } from "../../src/media/errors.ts";
import { FACTS, type SettingFacts } from "./fields.ts";
import { ServiceSettings } from "./schema.ts";

/** The variables of a host: texts, though `wrangler.toml` also knows numbers and booleans. */
export type Variables = Readonly<Record<string, unknown>>;

/** Thrown for settings that no host starts with; the message is one line and shows what was found, but for secrets. */
export class SettingsError extends MediaError {
  /** The same without what was found, for answers that anybody may read. */
  readonly summary: string;

  constructor(problems: readonly Problem[]) {
    const message = problems.map((problem) => explain(problem, true)).join(" ");
    super("request_invalid", message, { param: problems[0]?.name });
    this.summary = problems.map((problem) => explain(problem, false)).join(" ");
  }
}

/** Reads and checks all settings of a schema; throws a {@link SettingsError} that names every one that is missing or malformed. An empty text counts as not set. */
export function readSettings<T extends z.ZodObject>(schema: T, variables: Variables): z.output<T> {
  const texts = textsOf(schema, variables);
  const { success, data, error } = schema.safeParse(texts);
  if (success) return data;
  const problems = new Map<string, Problem>();
  for (const { path } of error.issues) {
    const [name = "", entry] = path.map(String);
    if (problems.has(name)) continue;
    problems.set(name, { name, facts: factsOf(schema.shape[name]), found: texts[name], entry });
  }
  throw new SettingsError([...problems.values()]);
}

/** Returns the texts of those settings of a schema that are set. */
export function textsOf(schema: z.ZodObject, variables: Variables): Record<string, string> {
  const texts = Object.keys(schema.shape).map((name) => [name, textOf(variables[name])] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== "")) as Record<string, string>;
}

/** Returns what is known of a setting. */
export function factsOf(field: unknown): SettingFacts {
  const inner = field instanceof z.ZodPrefault || field instanceof z.ZodOptional ? field.unwrap() : field;
  const facts = FACTS.get(inner as z.ZodType);
  if (!facts) throw new Error("A setting has no facts.");
  return facts;
}

/** Returns the text of a setting's default; undefined where it has none. */
export function defaultOf(field: unknown): string | undefined {
  return field instanceof z.ZodPrefault ? String(field.def.defaultValue) : undefined;
}

interface Problem {
  name: string;
  facts: SettingFacts;
  /** Undefined where it is not set. */
  found: string | undefined;
  /** Index in a list. */
  entry: string | undefined;
}

const MOST_SHOWN = 100;

function explain({ name, facts, found, entry }: Problem, show: boolean): string {
  if (found === undefined) return `${name} must be set to ${facts.accepts}.`;
  const rule = `${name} must be ${facts.accepts}`;
  if (show && !facts.hidden) return `${rule}, not ${JSON.stringify(found.slice(0, MOST_SHOWN))}.`;
  return entry === undefined ? `${rule}.` : `${rule}; entry ${Number(entry) + 1} is not.`;
}

function textOf(value: unknown): string {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value).trim() : "";
}

const parsed = new WeakMap<object, { settings: ServiceSettings } | { error: unknown }>();

/**
 * Reads the settings of the service Worker, once for each `env`, of which an isolate has one; throws a {@link SettingsError}. An object whose
 * alarm must not be lost reads them when it needs them, not in its constructor: where that throws, the platform gives the alarm up.
 */
export function serviceSettings(env: object): ServiceSettings {
  const found = parsed.get(env) ?? parse(env);
  parsed.set(env, found);
  if ("error" in found) throw found.error;
  return found.settings;
}

function parse(env: object): { settings: ServiceSettings } | { error: unknown } {
  try {
    return { settings: readSettings(ServiceSettings, { ...env }) };
  } catch (error) {
    return { error };
  }
}
