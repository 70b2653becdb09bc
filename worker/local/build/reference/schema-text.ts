import { escapeText, writeTable } from "./markdown.ts";

/** A JSON Schema, as far as the document uses it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  description?: string;
}

/** Returns the name of a schema's type, with links to the schemas that it refers to. */
export function nameType(schema: Schema): string {
  const { $ref, anyOf, oneOf, items, type, additionalProperties: values } = schema;
  if ($ref !== undefined) return linkTo($ref.slice($ref.lastIndexOf("/") + 1));
  const either = anyOf ?? oneOf;
  if (either) return [...new Set(either.map(nameType))].join(" or ");
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum) return schema.enum.map(code).join(", ");
  if (items) return `list of ${nameType(items)}`;
  if (Array.isArray(type)) return type.join(" or ");
  if (schema.properties) return `{ ${Object.keys(schema.properties).join(", ")} }`;
  if (typeof values === "object" && Object.keys(values).length > 0) return `object of ${nameType(values)}`;
  return `${type ?? "any value"}${boundsOf(schema)}`;
}

/** Returns a link to a schema on the same page. */
function linkTo(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

/** Renders the fields of a schema, or of each variant if it has several. */
export function writeSchema(schema: Schema): string {
  const variants = schema.oneOf ?? schema.anyOf;
  const about = schema.description ? `${escapeText(schema.description)}\n` : "";
  if (variants && variants.length > 1 && variants.every(({ properties }) => properties)) {
    return `${about}\n${variants.map(writeVariant).join("\n")}\n`;
  }
  if (!schema.properties) return `${about}\n${nameType(schema)}\n`;
  return `${about}\n${writeFields(schema)}`;
}

function writeFields({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, field]) => {
    const fallback =
      field.default === undefined || field.default === null ? "" : `Default ${code(field.default)}.`;
    const about = escapeText([field.description, fallback].filter(Boolean).join(" "));
    return [`\`${name}\`${required.includes(name) ? "" : " (optional)"}`, nameType(field), about];
  });
  return writeTable(["Field", "Type", "Meaning"], rows);
}

// A refusal or a reason: a code with its facts.
function writeVariant({ properties = {} }: Schema): string {
  const constants = Object.entries(properties).filter(([, field]) => field.const !== undefined);
  const facts = Object.entries(properties).filter(([, field]) => field.const === undefined);
  const head = constants.map(([name, field]) => `\`${name}\` ${code(field.const)}`).join(", ");
  const rest = facts.map(([name, field]) => `\`${name}\` ${nameType(field)}`).join(", ");
  return `- ${[head, rest].filter(Boolean).join(": ")}`;
}

function boundsOf({ minimum, maximum }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, at least ${minimum}`;
  return maximum === undefined ? "" : `, at most ${maximum}`;
}

function code(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}
