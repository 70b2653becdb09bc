/** Escapes what VitePress would parse as a tag or an expression, except inside code. */
export function escapeText(text: string): string {
  const parts = text.split(/(`[^`]*`)/);
  return parts
    .map((part) =>
      part.startsWith("`") ? part : part.replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;"),
    )
    .join("");
}

/** Renders a table; returns an empty string when it has no rows. */
export function writeTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  return `${[line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")}\n`;
}

/** Renders a value as a block of JSON. */
export function writeJson(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`;
}
