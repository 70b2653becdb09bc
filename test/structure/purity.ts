import { type ESTree, parseSync, Visitor } from "vite";
import type { SourceFile } from "./source-files.ts";

const GLOBALS = new Set(
  "fetch setTimeout setInterval queueMicrotask performance crypto navigator process localStorage console".split(
    " ",
  ),
);
const MEMBERS = new Set(["Date.now", "Math.random"]);

/** Lists where a file uses the time, randomness, I/O or other globals, each as `file: name`. */
export function findImpure({ path, text }: SourceFile): string[] {
  const places: string[] = [];
  const { program } = parseSync(path, text, { lang: "ts" });
  new Visitor({
    MemberExpression(node) {
      const name = `${nameOf(node.object)}.${nameOf(node.property)}`;
      if (MEMBERS.has(name)) places.push(name);
    },
    NewExpression(node) {
      if (nameOf(node.callee) === "Date" && node.arguments.length === 0) places.push("new Date()");
    },
    Identifier(node) {
      if (GLOBALS.has(node.name)) places.push(node.name);
    },
  }).visit(program);
  return places.map((name) => `${path}: ${name}`);
}

function nameOf(node: ESTree.Node): string {
  return node.type === "Identifier" ? node.name : "";
}
