import { type ESTree, parseSync } from "vite";
import type { SourceFile } from "./source-files.ts";

/** Lists the exported symbols of a file that have no doc comment directly above, each as `file: name`; what is exported from elsewhere is looked at there. */
export function findUndocumented({ path, text }: SourceFile): string[] {
  const { program, comments } = parseSync(path, text, { lang: path.endsWith("x") ? "tsx" : "ts" });
  const docs = comments.filter(({ type, value }) => type === "Block" && /^\*.*\w\W+\w/s.test(value));
  const isDocumented = (node: ESTree.Node) =>
    docs.some(({ end }) => end <= node.start && text.slice(end, node.start).trim() === "");
  const listed = new Set(program.body.flatMap(listedNames));
  const missing: string[] = [];
  let overloaded = "";
  for (const node of program.body) {
    const names = namesOf(node);
    const isExported = node.type.startsWith("Export") || names.some((name) => listed.has(name));
    // Of a function's overloads the first is documented.
    if (isExported && names[0] !== overloaded && !isDocumented(node)) missing.push(...names);
    overloaded = isFunction(node) ? (names[0] ?? "") : "";
  }
  return missing.map((name) => `${path}: ${name}`);
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

// The names of `export { a, b }`, which are declared elsewhere in the file.
function listedNames(node: ESTree.Node): string[] {
  if (node.type !== "ExportNamedDeclaration" || node.source) return [];
  return node.specifiers.map(({ local }) => ("name" in local ? local.name : local.value));
}

function isFunction(node: ESTree.Node): boolean {
  const type = "declaration" in node && node.declaration ? node.declaration.type : node.type;
  return type === "TSDeclareFunction" || type === "FunctionDeclaration";
}
