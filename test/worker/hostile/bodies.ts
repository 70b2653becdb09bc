import { NASTY } from "./nasty.ts";
import type { Draw } from "./random.ts";

/** The parts of a JSON Schema that bodies are made from. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  minimum?: number;
  maximum?: number;
  example?: unknown;
  examples?: unknown[];
}

export interface Recipe {
  schema: Schema;
  /** The schemas it refers to, by name. */
  schemas: Record<string, Schema>;
  /** Valid bodies. */
  examples: readonly unknown[];
}

const NUMBERS = [0, -0, -1, 1, 0.1, 1e-9, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 60.000001] as const;
const ODD: readonly unknown[] = [null, true, false, [], {}, [[]], [null], { a: { b: {} } }, ...NUMBERS];

/** Draws a body: a valid one or one from the schema, possibly mutated in up to three places. */
export function drawBody(recipe: Recipe, draw: Draw): unknown {
  const fromExample = recipe.examples.length > 0 && draw.share() < 0.6;
  let body = fromExample
    ? structuredClone(draw.one(recipe.examples))
    : fromSchema(recipe.schema, recipe, draw, 0);
  for (let times = draw.below(4); times > 0; times--) body = mutate(body, recipe, draw);
  return body;
}

/** Draws the bytes of a body, sometimes malformed. */
export function drawBytes(body: unknown, draw: Draw): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(JSON.stringify(body) ?? "");
  if (draw.share() < 0.94 || bytes.length === 0) return bytes;
  const at = draw.below(bytes.length);
  switch (draw.below(4)) {
    case 0:
      return bytes.slice(0, at);
    case 1:
      return bytes.with(at, 0xff);
    case 2:
      return bytes.with(at, 0);
    default:
      return new TextEncoder().encode(`${"[".repeat(200)}${"]".repeat(200)}`);
  }
}

function fromSchema(schema: Schema, recipe: Recipe, draw: Draw, depth: number): unknown {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return fromSchema(recipe.schemas[name] ?? {}, recipe, draw, depth);
  }
  const variants = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (variants) return fromSchema(draw.one(variants), recipe, draw, depth);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return draw.one(schema.enum);
  const examples = schema.examples ?? (schema.example === undefined ? [] : [schema.example]);
  if (examples.length > 0 && draw.share() < 0.7) return draw.one(examples);
  const type = Array.isArray(schema.type) ? draw.one(schema.type) : schema.type;
  switch (type) {
    case "object":
      return objectFrom(schema, recipe, draw, depth);
    case "array":
      return Array.from({ length: draw.below(3) }, () =>
        fromSchema(schema.items ?? {}, recipe, draw, depth + 1),
      );
    case "string":
      return draw.one(NASTY);
    case "integer":
    case "number": {
      const { minimum = -1, maximum = 100 } = schema;
      const within = minimum + draw.share() * (maximum - minimum);
      return draw.one([
        minimum,
        maximum,
        type === "integer" ? Math.round(within) : within,
        draw.one(NUMBERS),
      ]);
    }
    case "boolean":
      return draw.share() < 0.5;
    case "null":
      return null;
    default:
      return draw.one([...ODD, draw.one(NASTY)]);
  }
}

function objectFrom(
  { properties = {}, additionalProperties }: Schema,
  recipe: Recipe,
  draw: Draw,
  depth: number,
) {
  const entries = Object.entries(properties)
    .filter(() => depth < 6 && draw.share() < 0.8)
    .map(([name, each]) => [name, fromSchema(each, recipe, draw, depth + 1)]);
  const more = additionalProperties === true || typeof additionalProperties === "object";
  if (more && draw.share() < 0.5) entries.push([draw.one(NASTY), draw.one([...ODD, ...NASTY])]);
  return Object.fromEntries(entries);
}

// Replaces or removes the value at a random place, or adds a field.
function mutate(value: unknown, recipe: Recipe, draw: Draw): unknown {
  const inside = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (inside.length === 0 || draw.share() < 0.2) {
    return draw.one([draw.one(NASTY), draw.one(ODD), fromSchema(recipe.schema, recipe, draw, 0)]);
  }
  const [name, at] = draw.one(inside);
  const changed = draw.share() < 0.75 ? [[name, mutate(at, recipe, draw)]] : [];
  const rest = inside.filter(([each]) => each !== name);
  if (Array.isArray(value)) return [...rest, ...changed].map(([, each]) => each);
  const more = draw.share() < 0.2 ? [[draw.one(NASTY), draw.one(ODD)]] : [];
  return Object.fromEntries([...rest, ...changed, ...more]);
}
