import { parseSync } from "vite";
import type { SourceFile } from "./source-files.ts";

// Words that make prose read as translated; the trade has a plain verb for each.
const TELL_TALES: readonly RegExp[] = [
  /\bGives\b/,
  /\bTells\b/,
  /\b(is|are|was|were|be) told\b/i,
  /\b(is|are) heard\b/i,
  /\bwhoever\b/i,
  /\bWho \w+s\b/,
  /\bwhat is thrown\b/i,
  /\bsorts? of\b/i,
  /\bshall\b/i,
  /\bany ?more\b/i,
  /\bfor ever\b/i,
  /\bat the most\b/i,
  /\bso often\b/i,
  /\bgoes on\b/i,
  /\blets go\b/i,
  /\bbrings? along\b/i,
  /\bcarr(y|ies) out\b/i,
  /\blook(s|ed)? into\b/i,
  /\bput together\b/i,
  /\btells? (of|whether|nothing|how)\b/i,
  /[;(] gives\b/,
  /\b(nobody|somebody)\b/i,
  /\bhears\b/i,
  /\bheard of\b/i,
  /\banew\b/i,
  /\b(is|are|was|were) to be\b/i,
  /\ball the same\b/i,
  /\btakes? along\b/i,
  /\bby and by\b/i,
  /\bhowever it\b/i,
  /\bstays? untouched\b/i,
];

/** Lists the tell-tale words in a file's comments, each as `path:line: words`. */
export function findTellTales({ path, text }: SourceFile): string[] {
  const { comments } = parseSync(path, text, { lang: path.endsWith("x") ? "tsx" : "ts" });
  return comments.flatMap(({ value, start }) => {
    const line = text.slice(0, start).split("\n").length;
    return tellTalesIn(value.replaceAll(/\s*\n\s*\*?\s*/g, " ")).map((words) => `${path}:${line}: ${words}`);
  });
}

/** Lists the tell-tale words in a text. */
export function tellTalesIn(text: string): string[] {
  return TELL_TALES.flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
}
