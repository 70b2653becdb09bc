import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../structure/source-files.ts";

/** A Markdown document. */
export interface Document {
  /** Relative to the repository's root. */
  path: string;
  text: string;
}

export function readDocument(path: string): Document {
  return { path, text: readFileSync(join(ROOT, path), "utf8") };
}

/** Reads the README, the changelog and every page of the site except the generated reference. */
export function readDocuments(): Document[] {
  const pages = globSync("docs/**/*.md", { cwd: ROOT, exclude: ["docs/reference", "docs/.vitepress"] });
  return ["README.md", "CHANGELOG.md", ...pages.sort()].map(readDocument);
}

/** Removes code blocks, and brackets within inline code. */
export function withoutCode(text: string): string {
  return text
    .replace(/^( *)```.*?^\1```$/gms, "")
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ""));
}

/** Returns the anchors of a document's headings, as GitHub generates them. */
export function anchorsOf({ text }: Document): Set<string> {
  const headings = text.replace(/^( *)```.*?^\1```$/gms, "").matchAll(/^#{1,6} (.+)$/gm);
  const anchors = [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set(anchors);
}
