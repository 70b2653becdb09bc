import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ESTree, parseSync } from "vite";
import { createDocument } from "../../api/openapi.ts";
import { createApp } from "../../app.ts";
import type { Services } from "../../services.ts";
import { runMain } from "../cli.ts";
import { ROOT } from "../settings.ts";

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

interface OpenApi {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Schemas };
}

type Schemas = Readonly<Record<string, Schema>>;

function writeHttpPage({ info, tags, paths, components }: OpenApi): string {
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
      parameters.map((parameter) => [
        `\`${parameter.name}\`${parameter.required ? "" : " (optional)"}`,
        parameter.in,
        nameType(parameter.schema),
        escapeText(parameter.description ?? ""),
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

interface Entry {
  name: string;
  path: string;
  about: string;
}

function writeLibraryPage(entries: readonly Entry[], schemas: Schemas): string {
  const visited = new Set<string>();
  const sections = entries.map(({ name, path, about }) => {
    const fresh = listExports(path).filter((entry) => !visited.has(entry.name));
    for (const entry of fresh) visited.add(entry.name);
    const sorted = fresh.toSorted((a, b) => rankOf(a) - rankOf(b));
    return `## ${name}\n\n${about}\n\n${sorted.map((entry) => writeExport(entry, schemas)).join("\n")}`;
  });
  return `# Library\n\nGenerated from the types. A name that several entries export is listed under the first.\n\n${sections.join("\n")}`;
}

const ORDER = ["function", "class", "interface", "type", "const"] as const;

function rankOf({ declarations }: Exported): number {
  return Math.min(...declarations.map(({ kind }) => ORDER.indexOf(kind)));
}

function writeExport({ name, declarations }: Exported, schemas: Schemas): string {
  const doc = declarations.map((declaration) => declaration.doc).find((text) => text !== "") ?? "";
  const { about, examples } = splitDoc(doc);
  const id = declarations.map(schemaOf).find((id) => id !== null);
  const schema = id ? schemas[id] : undefined;
  const code = declarations
    .filter((declaration) => !schemaOf(declaration) && !isSchema(declaration))
    .map(({ text }) => fence(withoutLinks(text)));
  const fields = schema ? [writeSchema(schema).replaceAll("](#", "](http-api.md#")] : [];
  return [`### ${name}\n`, `${about}\n`, ...code, ...examples.map(fence), ...fields].join("\n");
}

function fence(code: string): string {
  return `\`\`\`ts\n${code}\n\`\`\`\n`;
}

function splitDoc(doc: string): { about: string; examples: string[] } {
  const [head = "", ...parts] = doc.split(/^@example\b/m);
  const about = escapeText(withoutLinks(head).trim())
    .replace(/^@param\s+(\w+)\s+/gm, "- `$1`: ")
    .replace(/^@(default|throws)\s+(.+)$/gm, (_, tag: string, text: string) => `\n${TAGS[tag]}: ${text}`)
    .trim();
  return { about, examples: parts.map((part) => withoutLinks(part).trim()) };
}

const TAGS: Readonly<Record<string, string>> = { default: "Default", throws: "Throws" };

function withoutLinks(text: string): string {
  return text.replace(/\{@link ([^}]+)\}/g, "`$1`");
}

function schemaOf({ text, file }: Declared): string | null {
  const [, schema] = /= z\.(?:infer|output)<typeof (\w+)>/.exec(text) ?? [];
  if (schema === undefined) return null;
  const start = file.search(new RegExp(`^(export )?const ${schema}\\b`, "m"));
  const [, id] = /id: "(\w+)"/.exec(start < 0 ? "" : file.slice(start)) ?? [];
  return id ?? null;
}

function isSchema({ kind, text }: Declared): boolean {
  return kind === "const" && /= (z$|z\.|z\n|\w+\.(extend|omit|partial)\()/m.test(text);
}

interface Exported {
  name: string;
  /** The declarations of the name, in order: a schema and its type are two. */
  declarations: Declared[];
}

interface Declared {
  kind: "class" | "const" | "function" | "interface" | "type";
  /** The declaration without function bodies. */
  text: string;
  /** The doc comment, without its stars. */
  doc: string;
  /** The text of the whole file. */
  file: string;
}

interface Module {
  text: string;
  body: readonly ESTree.Node[];
  comments: readonly { type: string; value: string; start: number; end: number }[];
}

const modules = new Map<string, Module>();

function readModule(path: string): Module {
  const cached = modules.get(path);
  if (cached) return cached;
  const text = readFileSync(path, "utf8");
  const { program, comments } = parseSync(path, text, { lang: "ts" });
  const module = { text, body: program.body, comments };
  modules.set(path, module);
  return module;
}

/**
 * Lists a module's exports in source order and follows re-exports to their declarations.
 * Throws an Error for a name without a declaration.
 */
function listExports(path: string): Exported[] {
  const exports = readModule(path).body.flatMap((node) => {
    if (node.type === "ExportAllDeclaration") return listExports(join(dirname(path), node.source.value));
    if (node.type !== "ExportNamedDeclaration") return [];
    const isType = node.exportKind === "type";
    return [
      ...node.specifiers.map((each) =>
        describeExport(path, nameOf(each.exported), isType || each.exportKind === "type"),
      ),
      ...declaredNames(node.declaration).map((name) => describeExport(path, name, false)),
    ];
  });
  return [...new Map(exports.map((each) => [each.name, each])).values()];
}

function describeExport(path: string, name: string, isType: boolean): Exported {
  const all = findDeclarations(path, name);
  const types = all.filter(({ kind }) => kind !== "const");
  return { name, declarations: isType && types.length > 0 ? types : all };
}

function findDeclarations(path: string, name: string): Declared[] {
  const module = readModule(path);
  const own = module.body.flatMap((node) => {
    const declaration = node.type === "ExportNamedDeclaration" ? node.declaration : node;
    return declaredNames(declaration).includes(name) ? describeDeclaration(module, node, declaration) : [];
  });
  if (own.length > 0) return own;
  for (const node of module.body) {
    if (node.type !== "ExportNamedDeclaration" || !node.source) continue;
    const specifier = node.specifiers.find(({ exported }) => nameOf(exported) === name);
    if (specifier) return findDeclarations(join(dirname(path), node.source.value), nameOf(specifier.local));
  }
  for (const node of module.body) {
    if (node.type !== "ImportDeclaration") continue;
    const specifier = node.specifiers.find(({ local }) => local.name === name);
    if (specifier) return findDeclarations(join(dirname(path), node.source.value), name);
  }
  throw new Error(`${path} exports ${name}, which is declared nowhere.`);
}

function describeDeclaration(module: Module, outer: ESTree.Node, node: unknown): Declared[] {
  const declaration = node as ESTree.Node;
  const comment = module.comments.findLast(
    ({ type, value, end }) =>
      type === "Block" &&
      value.startsWith("*") &&
      end <= outer.start &&
      module.text.slice(end, outer.start).trim() === "",
  );
  const kind = KINDS[declaration.type];
  if (!kind) return [];
  const doc = comment ? plainDoc(comment.value) : "";
  return [{ kind, text: signatureOf(module, declaration), doc, file: module.text }];
}

const KINDS: Readonly<Record<string, Declared["kind"]>> = {
  ClassDeclaration: "class",
  VariableDeclaration: "const",
  FunctionDeclaration: "function",
  TSDeclareFunction: "function",
  TSInterfaceDeclaration: "interface",
  TSTypeAliasDeclaration: "type",
};

function plainDoc(value: string): string {
  const lines = value.split("\n").map((line) => line.replace(/^\s*\*? ?/, ""));
  return lines.join("\n").trim();
}

function signatureOf({ text, comments }: Module, node: ESTree.Node): string {
  const whole = text.slice(node.start, node.end);
  if (node.type === "FunctionDeclaration" && node.body)
    return text
      .slice(node.start, node.body.start)
      .replace(/^async /, "")
      .trimEnd();
  if (node.type !== "ClassDeclaration") return whole;
  const head = text.slice(node.start, node.body.start);
  const members = node.body.body.map((member) => {
    const body = member.type === "MethodDefinition" ? member.value.body : null;
    const above = comments.findLast(
      ({ end }) => end <= member.start && text.slice(end, member.start).trim() === "",
    );
    return text.slice(above?.start ?? member.start, body?.start ?? member.end).trimEnd();
  });
  return `${head}{\n${members.map((member) => `  ${member.replace(/;?$/, ";")}`).join("\n")}\n}`;
}

function declaredNames(declaration: unknown): string[] {
  const node = declaration as ESTree.Node | null;
  if (!node) return [];
  if (node.type === "VariableDeclaration")
    return node.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  const withId = node as { id?: { name?: string } | null };
  return KINDS[node.type] && withId.id?.name ? [withId.id.name] : [];
}

function nameOf(node: ESTree.ModuleExportName): string {
  return node.type === "Literal" ? node.value : node.name;
}

interface Schema {
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

function nameType(schema: Schema): string {
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

function linkTo(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

function writeSchema(schema: Schema): string {
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

/** Escapes what VitePress would parse as a tag or an expression, except inside code. */
function escapeText(text: string): string {
  const parts = text.split(/(`[^`]*`)/);
  return parts
    .map((part) =>
      part.startsWith("`") ? part : part.replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;"),
    )
    .join("");
}

function writeTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  return `${[line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")}\n`;
}

function writeJson(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`;
}

const ENTRIES: readonly Entry[] = [
  {
    name: "framewright",
    path: join(ROOT, "src", "index.ts"),
    about: "Types of tasks and steps, errors, and functions that need no I/O.",
  },
  {
    name: "framewright/browser",
    path: join(ROOT, "src", "browser", "index.ts"),
    about: "Tasks on the page's own machine. See [In a page](../page.md).",
  },
  {
    name: "framewright/client",
    path: join(ROOT, "src", "client", "index.ts"),
    about: "Tasks at a service. See [The service](../service.md).",
  },
  {
    name: "framewright/webhooks",
    path: join(ROOT, "src", "webhooks", "verify.ts"),
    about: "See [Webhooks](../webhooks.md).",
  },
];

/** Writes the reference pages to a folder. */
export async function writeReference(folder: string): Promise<void> {
  const app = createApp({ settings: {}, limits: {} } as unknown as Services);
  const document = createDocument(app.described) as OpenApi;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "library.md"), writeLibraryPage(ENTRIES, document.components.schemas));
  await writeFile(join(folder, "http-api.md"), writeHttpPage(document));
}

if (import.meta.main) runMain(() => writeReference(join(ROOT, "docs", "reference")));
