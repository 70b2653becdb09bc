import { posix } from "node:path";
import { type ESTree, parseSync } from "vite";
import type { SourceFile } from "./source-files.ts";

/** Public names of each file, by path. */
export type PublicNames = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Follows the exports of the entry files, through re-exports, to the files that declare them. Throws if one of these is
 * not among `files`.
 */
export function findPublicNames(entries: readonly string[], files: readonly SourceFile[]): PublicNames {
  const programs = new Map(files.map((file) => [file.path, parse(file).program]));
  const publicNames = new Map<string, Set<string>>();

  function follow(path: string, symbol: string | null): void {
    const program = programs.get(path);
    if (!program) throw new Error(`${path} is exported, but not read.`);
    const names = publicNames.get(path) ?? new Set();
    publicNames.set(path, names);
    const from = (source: string) => posix.join(posix.dirname(path), source);
    const imported = new Map(program.body.flatMap(importsOf));
    for (const node of program.body) {
      if (node.type === "ExportAllDeclaration" && node.source.value.startsWith(".")) {
        follow(from(node.source.value), symbol);
      } else if (node.type === "ExportNamedDeclaration" && !node.declaration) {
        for (const { local, exported } of node.specifiers) {
          if (symbol !== null && symbol !== nameOf(exported)) continue;
          const source = node.source?.value ?? imported.get(nameOf(local))?.source;
          const name = node.source ? nameOf(local) : (imported.get(nameOf(local))?.name ?? nameOf(local));
          if (!source) names.add(name);
          else if (source.startsWith(".")) follow(from(source), name);
        }
      } else if (node.type === "ExportNamedDeclaration") {
        for (const name of namesOf(node)) if (symbol === null || symbol === name) names.add(name);
      } else if (node.type === "ExportDefaultDeclaration" && (symbol === null || symbol === "default")) {
        names.add(namesOf(node)[0] ?? "default");
      }
    }
  }

  for (const entry of entries) follow(entry, null);
  return publicNames;
}

/** Lists a file's public symbols without a doc comment directly above, each as `file: name`. */
export function findUndocumented(file: SourceFile, isPublic: (name: string) => boolean): string[] {
  const { program, comments } = parse(file);
  const { path, text } = file;
  const docs = comments.filter(({ type, value }) => type === "Block" && /^\*.*\w\W+\w/s.test(value));
  const isDocumented = (node: ESTree.Node) =>
    docs.some(({ end }) => end <= node.start && text.slice(end, node.start).trim() === "");
  const missing: string[] = [];
  let overloaded = "";
  for (const node of program.body) {
    const names = namesOf(node);
    // Only the first of a function's overloads needs documentation.
    if (names.some(isPublic) && names[0] !== overloaded && !isDocumented(node)) missing.push(...names);
    overloaded = isFunction(node) ? (names[0] ?? "") : "";
  }
  return missing.map((name) => `${path}: ${name}`);
}

/**
 * Lists the members of a file's public interfaces and object types without a doc comment directly above, each as
 * `file: Type.member`. Objects within a member are left to its own comment.
 */
export function findUndocumentedMembers(file: SourceFile, isPublic: (name: string) => boolean): string[] {
  const { program, comments } = parse(file);
  const { path, text } = file;
  const isDocumented = ({ start }: ESTree.Node) =>
    comments.some(
      ({ type, value, end }) =>
        type === "Block" && /^\*.*\w/s.test(value) && end <= start && text.slice(end, start).trim() === "",
    );
  return program.body.flatMap((node) => {
    const declared = node.type === "ExportNamedDeclaration" ? node.declaration : node;
    if (declared?.type !== "TSInterfaceDeclaration" && declared?.type !== "TSTypeAliasDeclaration") return [];
    const { name } = declared.id;
    if (!isPublic(name)) return [];
    const body = declared.type === "TSInterfaceDeclaration" ? declared.body : declared.typeAnnotation;
    const missing = membersOf(body).filter((member) => !isDocumented(member));
    return missing.map((member) => `${path}: ${name}.${"key" in member ? nameOf(member.key) : member.type}`);
  });
}

function membersOf(node: ESTree.Node): ESTree.Node[] {
  if (node.type === "TSInterfaceBody") return node.body;
  if (node.type === "TSTypeLiteral") return node.members;
  if (node.type === "TSParenthesizedType") return membersOf(node.typeAnnotation);
  return node.type === "TSUnionType" || node.type === "TSIntersectionType"
    ? node.types.flatMap(membersOf)
    : [];
}

function parse({ path, text }: SourceFile) {
  return parseSync(path, text, { lang: path.endsWith("x") ? "tsx" : "ts" });
}

function namesOf(node: ESTree.Node): string[] {
  switch (node.type) {
    case "VariableDeclaration":
      return node.declarations.map(({ id }) => (id.type === "Identifier" ? id.name : "(pattern)"));
    case "FunctionDeclaration":
    case "TSDeclareFunction":
    case "ClassDeclaration":
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return [node.id?.name ?? "default"];
    case "ExportNamedDeclaration":
      return node.declaration ? namesOf(node.declaration) : [];
    case "ExportDefaultDeclaration":
      return [namesOf(node.declaration)[0] ?? "default"];
    default:
      return [];
  }
}

function importsOf(node: ESTree.Node): [string, { source: string; name: string }][] {
  if (node.type !== "ImportDeclaration") return [];
  return node.specifiers.map((each) => [
    each.local.name,
    {
      source: node.source.value,
      name: each.type === "ImportSpecifier" ? nameOf(each.imported) : "default",
    },
  ]);
}

function nameOf(node: ESTree.Node): string {
  return "name" in node && typeof node.name === "string" ? node.name : "value" in node ? `${node.value}` : "";
}

function isFunction(node: ESTree.Node): boolean {
  const type = "declaration" in node && node.declaration ? node.declaration.type : node.type;
  return type === "TSDeclareFunction" || type === "FunctionDeclaration";
}
