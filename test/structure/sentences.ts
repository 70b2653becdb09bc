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

/** Lists the errors of a catalogue that no file creates; only files that import the catalogue count. */
export function findUnusedErrors(catalogue: SourceFile, files: readonly SourceFile[]): string[] {
  const [, rows = ""] = /^export const errors = \{$(.*?)^\};$/ms.exec(catalogue.text) ?? [];
  const names = [...rows.matchAll(/^ {2}(\w+): /gm)].map(([, name = ""]) => name);
  const used = new Set(files.flatMap((file) => usedErrors(file, catalogue.path)));
  return names.filter((name) => !used.has(name)).map((name) => `${catalogue.path}: ${name}`);
}

function usedErrors({ path, text }: SourceFile, catalogue: string): string[] {
  return [...text.matchAll(/^import \{([^}]*)\} from "([^"]+)";/gm)].flatMap(
    ([, bindings = "", from = ""]) => {
      const [, errors, alias = errors] = /\b(errors)(?: as (\w+))?\b/.exec(bindings) ?? [];
      if (!alias || posix.join(posix.dirname(path), from) !== catalogue) return [];
      return [...text.matchAll(new RegExp(`\\b${alias}\\s*\\.(\\w+)`, "g"))].map(([, name = ""]) => name);
    },
  );
}
