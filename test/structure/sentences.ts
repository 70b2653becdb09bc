import { posix } from "node:path";
import { parseSync, Visitor } from "vite";
import type { SourceFile } from "./source-files.ts";

/** Lists where a file writes the sentence of an error in the place that throws it, each as `file:line`. */
export function findSentences({ path, text }: SourceFile): string[] {
  const lines: number[] = [];
  const { program } = parseSync(path, text, { lang: path.endsWith("x") ? "tsx" : "ts" });
  new Visitor({
    NewExpression({ callee, arguments: args, start }) {
      if (callee.type !== "Identifier" || !callee.name.endsWith("Error")) return;
      const sentences = args.filter(
        (arg) =>
          (arg.type === "Literal" && / /.test(String(arg.value))) ||
          (arg.type === "TemplateLiteral" && arg.quasis.some(({ value }) => / /.test(value.raw))),
      );
      if (sentences.length > 0) lines.push(text.slice(0, start).split("\n").length);
    },
  }).visit(program);
  return lines.map((line) => `${path}:${line}`);
}

/** Lists the rows of a catalogue, its exported constants, that no file uses, each as `file: name`; only files that import the catalogue count. */
export function findUnusedRows(catalogue: SourceFile, files: readonly SourceFile[]): string[] {
  const names = [...catalogue.text.matchAll(/^export const (\w+)/gm)].map(([, name = ""]) => name);
  const used = new Set(files.flatMap((file) => usedRows(file, catalogue.path)));
  return names.filter((name) => !used.has(name)).map((name) => `${catalogue.path}: ${name}`);
}

function usedRows({ path, text }: SourceFile, catalogue: string): string[] {
  return [...text.matchAll(/^import (?:\* as (\w+)|\{([^}]*)\}) from "([^"]+)";/gm)].flatMap(
    ([, alias, bindings = "", from = ""]) => {
      if (posix.join(posix.dirname(path), from) !== catalogue) return [];
      if (!alias) return bindings.split(",").map((binding) => binding.trim());
      return [...text.matchAll(new RegExp(`\\b${alias}\\s*\\.(\\w+)`, "g"))].map(([, name = ""]) => name);
    },
  );
}
