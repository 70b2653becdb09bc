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

/** Lists the errors of a catalogue that no other file creates. */
export function findUnusedErrors(catalogue: SourceFile, files: readonly SourceFile[]): string[] {
  const [, rows = ""] = catalogue.text.split("export const errors = {");
  const names = [...rows.matchAll(/^ {2}(\w+): /gm)].map(([, name = ""]) => name);
  const others = files.filter(({ path }) => path !== catalogue.path).map(({ text }) => text);
  const used = new Set(
    others.flatMap((text) => [...text.matchAll(/\berrors\s*\.(\w+)/g)].map(([, name]) => name)),
  );
  return names.filter((name) => !used.has(name)).map((name) => `${catalogue.path}: ${name}`);
}
