import { type ESTree, parseSync, Visitor } from "vite";
import type { SourceFile } from "./source-files.ts";

const STRING_METHODS = new Set([
  ..."at charAt endsWith includes indexOf lastIndexOf localeCompare match matchAll replace replaceAll".split(
    " ",
  ),
  ..."search slice split startsWith substring toLowerCase toUpperCase trim".split(" "),
]);
const REGEX_METHODS = new Set(["test", "exec"]);
const COMPARISONS = new Set(["===", "!==", "==", "!="]);
// Usual names of caught values.
const THROWN = /^(thrown|error|cause|err|e|fault|reason)$/;

/** Lists where a file branches on or rewrites the text of an error's message, each as `file: the expression`. */
export function findMessageText({ path, text }: SourceFile): string[] {
  const places: string[] = [];
  const { program } = parseSync(path, text, { lang: path.endsWith("x") ? "tsx" : "ts" });
  const report = (node: ESTree.Node) => places.push(`${path}: ${text.slice(node.start, node.end)}`);
  new Visitor({
    CallExpression(node) {
      const { callee } = node;
      if (callee.type !== "MemberExpression" || callee.computed) return;
      const method = nameOf(callee.property);
      if (STRING_METHODS.has(method) && isMessage(callee.object)) report(node);
      if (REGEX_METHODS.has(method) && node.arguments.some(isMessage)) report(node);
    },
    BinaryExpression(node) {
      if (COMPARISONS.has(node.operator) && (isText(node.left, node.right) || isText(node.right, node.left)))
        report(node);
    },
    SwitchStatement(node) {
      if (isErrorMessage(node.discriminant)) report(node.discriminant);
    },
  }).visit(program);
  return places;
}

// A comparison with a literal text, not with another message.
function isText(one: ESTree.Node, other: ESTree.Node): boolean {
  return (
    isMessage(one) && (other.type === "TemplateLiteral" || (other.type === "Literal" && other.value !== null))
  );
}

function isMessage(expression: ESTree.Node): boolean {
  const node = bare(expression);
  if (node.type === "LogicalExpression") return isMessage(node.left);
  return isErrorMessage(node) || nameOf(node) === "message" || isThrownAsText(node);
}

function isErrorMessage(expression: ESTree.Node): boolean {
  const node = bare(expression);
  return (
    node.type === "MemberExpression" && !node.computed && /^(message|stack)$/.test(nameOf(node.property))
  );
}

// `String(thrown)` and `${thrown}` contain the message too.
function isThrownAsText(node: ESTree.Node): boolean {
  if (node.type === "TemplateLiteral") return node.expressions.some((each) => THROWN.test(nameOf(each)));
  return (
    node.type === "CallExpression" &&
    nameOf(node.callee) === "String" &&
    node.arguments.some((each) => THROWN.test(nameOf(each)))
  );
}

function bare(node: ESTree.Node): ESTree.Node {
  const wrapped = ["ChainExpression", "ParenthesizedExpression", "TSNonNullExpression", "TSAsExpression"];
  return wrapped.includes(node.type) && "expression" in node ? bare(node.expression as ESTree.Node) : node;
}

function nameOf(node: ESTree.Node): string {
  return node.type === "Identifier" ? node.name : "";
}
