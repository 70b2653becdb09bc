import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ESTree, parseSync } from "vite";

/** A name that a module exports, with its declaration. */
export interface Exported {
  name: string;
  /** The declarations of the name, in order: a schema and its type are two. */
  declarations: Declared[];
}

/** One declaration of a name. */
export interface Declared {
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
  const known = modules.get(path);
  if (known) return known;
  const text = readFileSync(path, "utf8");
  const { program, comments } = parseSync(path, text, { lang: "ts" });
  const read = { text, body: program.body, comments };
  modules.set(path, read);
  return read;
}

/**
 * Lists a module's exports in source order and follows re-exports to their declarations.
 * Throws an Error for a name without a declaration.
 */
export function listExports(path: string): Exported[] {
  const found = readModule(path).body.flatMap((node) => {
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
  return [...new Map(found.map((each) => [each.name, each])).values()];
}

// A schema has the name of its type, under which an export of the type alone does not pass it on.
function describeExport(path: string, name: string, isType: boolean): Exported {
  const found = findDeclarations(path, name);
  const types = found.filter(({ kind }) => kind !== "const");
  return { name, declarations: isType && types.length > 0 ? types : found };
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
  // Imported first, then exported by name.
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

/** Removes the stars of a doc comment. */
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
  const named = node as { id?: { name?: string } | null };
  return KINDS[node.type] && named.id?.name ? [named.id.name] : [];
}

function nameOf(node: ESTree.ModuleExportName): string {
  return node.type === "Literal" ? node.value : node.name;
}
