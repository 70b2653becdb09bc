import { escapeText, writeJson, writeTable } from "./markdown.ts";
import { nameType, type Schema, writeSchema } from "./schema-text.ts";

interface Content {
  schema?: Schema;
  examples?: Record<string, { value: unknown }>;
}

interface Answer {
  description: string;
  content?: Record<string, Content>;
}

interface Operation {
  summary: string;
  description?: string;
  tags: string[];
  security: { api_key: string[] }[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, Answer>;
}

/** An OpenAPI document, as far as the page shows it. */
export interface OpenApi {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** Renders the page of the HTTP API: its operations by tag, then the schemas that they use. */
export function writeHttpPage({ info, tags, paths, components }: OpenApi): string {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const sections = tags.map(({ name, description }) => {
    const own = all.filter(({ operation }) => operation.tags.includes(name));
    const written = own.map(({ path, method, operation }) => writeOperation(method, path, operation));
    return `## ${name}\n\n${escapeText(description)}\n\n${written.join("\n")}`;
  });
  const schemas = Object.entries(components.schemas)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, schema]) => `### ${name}\n\n${writeSchema(schema)}`);
  const head = `# HTTP API\n\nGenerated from the OpenAPI document, which a running service serves at \`/openapi.json\`.\n\n${escapeText(info.description)}`;
  return [head, ...sections, `## Schemas\n\n${schemas.join("\n")}`].join("\n\n");
}

function writeOperation(method: string, path: string, operation: Operation): string {
  const { summary, description, parameters = [], requestBody, responses, security } = operation;
  const scope = security.flatMap(({ api_key }) => api_key).join(", ");
  const body = Object.values(requestBody?.content ?? {})[0];
  const example = Object.values(body?.examples ?? {})[0];
  return [
    `### ${summary}\n`,
    `\`${method.toUpperCase()} ${path}\`${scope ? `, with a key of scope \`${scope}\`` : ", without a key"}\n`,
    ...(description ? [`${escapeText(description)}\n`] : []),
    writeTable(
      ["Parameter", "In", "Type", "Meaning"],
      parameters.map((given) => [
        `\`${given.name}\`${given.required ? "" : " (optional)"}`,
        given.in,
        nameType(given.schema),
        escapeText(given.description ?? ""),
      ]),
    ),
    ...(body?.schema ? [`Body: ${nameType(body.schema)}${example ? ", such as" : ""}\n`] : []),
    ...(example ? [writeJson(example.value)] : []),
    writeTable(
      ["Status", "Answer", "Body"],
      Object.entries(responses).map(([status, answer]) => [
        status,
        escapeText(answer.description),
        bodyOf(answer),
      ]),
    ),
  ].join("\n");
}

function bodyOf({ content = {} }: Answer): string {
  const types = Object.entries(content).map(([type, { schema }]) =>
    type === "application/json" && schema ? nameType(schema) : `\`${type}\``,
  );
  return [...new Set(types)].join(" or ");
}
