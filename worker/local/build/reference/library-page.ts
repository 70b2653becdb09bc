import { type Declared, type Exported, listExports } from "./exports.ts";
import { escapeText } from "./markdown.ts";

/** An entry point of the package, with the path of its module. */
export interface Entry {
  name: string;
  path: string;
  about: string;
}

/** Renders the page of the library: every export of the entry points once, with its comment and its declaration. */
export function writeLibraryPage(entries: readonly Entry[]): string {
  const seen = new Set<string>();
  const sections = entries.map(({ name, path, about }) => {
    const fresh = listExports(path).filter((found) => !seen.has(found.name));
    for (const found of fresh) seen.add(found.name);
    const sorted = fresh.toSorted((a, b) => rankOf(a) - rankOf(b));
    return `## ${name}\n\n${about}\n\n${sorted.map(writeExport).join("\n")}`;
  });
  return `# Library\n\nGenerated from the types. A name that several entries export is listed under the first.\n\n${sections.join("\n")}`;
}

// Callable exports first, then the types that they take.
const ORDER = ["function", "class", "interface", "type", "const"] as const;

function rankOf({ declarations }: Exported): number {
  return Math.min(...declarations.map(({ kind }) => ORDER.indexOf(kind)));
}

function writeExport({ name, declarations }: Exported): string {
  const doc = declarations.map((found) => found.doc).find((text) => text !== "") ?? "";
  const { about, examples } = splitDoc(doc);
  const schema = declarations.map(schemaOf).find((id) => id !== null);
  const code = declarations
    .filter((found) => !schemaOf(found) && !isSchema(found))
    .map(({ text }) => fence(withoutLinks(text)));
  const link = schema ? `The fields are those of [${schema}](http-api.md#${schema.toLowerCase()}).\n` : null;
  return [`### ${name}\n`, `${about}\n`, ...code, ...examples.map(fence), ...(link ? [link] : [])].join("\n");
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

// A type inferred from a schema shows no fields: those are on the page of the HTTP API.
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
