import { type ESTree, parseSync, Visitor } from "vite";
import type { SourceFile } from "./source-files.ts";

// Attributes and props whose text a visitor reads or hears.
const LABELS = new Set(
  "action alt aria-label aria-valuetext busy caption empty hint label leave legend placeholder summary title use".split(
    " ",
  ),
);
// Names that no language translates.
const NAMES = new Set(["Framewright", "TypeScript", "admin"]);

/** Lists the texts that a component writes itself instead of taking them from its catalogue, each as `file: text`. */
export function findPageTexts({ path, text }: SourceFile): string[] {
  const texts: string[] = [];
  const { program } = parseSync(path, text, { lang: "tsx" });
  const addWords = (words: string) => {
    const plain = words.replaceAll(/\s+/g, " ").trim();
    if (/[A-Za-z]{2}/.test(plain) && !NAMES.has(plain)) texts.push(`${path}: ${plain}`);
  };
  // An example such as `https://…/logo.png` has neither a capital nor a space.
  const addLabel = (words: string) => {
    if (/^[A-Z]|[a-z] [a-z]/.test(words.trim())) addWords(words);
  };
  new Visitor({
    JSXText({ value }) {
      addWords(value);
    },
    JSXElement({ children }) {
      for (const child of children)
        if (child.type === "JSXExpressionContainer")
          for (const words of textsOf(child.expression)) addLabel(words);
    },
    JSXAttribute({ name, value }) {
      if (!LABELS.has(String(name.name))) return;
      if (value?.type === "Literal") addLabel(String(value.value));
      if (value?.type === "JSXExpressionContainer")
        for (const words of textsOf(value.expression)) addLabel(words);
    },
  }).visit(program);
  return texts;
}

// The texts that an expression may have as its value.
function textsOf(node: ESTree.Node): string[] {
  switch (node.type) {
    case "Literal":
      return typeof node.value === "string" ? [node.value] : [];
    case "TemplateLiteral":
      return node.quasis.map(({ value }) => value.raw);
    case "ConditionalExpression":
      return [...textsOf(node.consequent), ...textsOf(node.alternate)];
    case "LogicalExpression":
      return [...textsOf(node.left), ...textsOf(node.right)];
    default:
      return [];
  }
}
