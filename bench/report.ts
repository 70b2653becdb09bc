import type { Result } from "./benchmark.ts";

const COLUMNS = ["name", "ours", "peer", "ratio", "unit"] as const;

export function formatTable(results: readonly Result[]): string {
  const rows = [
    [...COLUMNS],
    ...results.map(({ name, ours, peer, ratio, unit }) => [name, ...[ours, peer, ratio].map(short), unit]),
  ];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 || column === COLUMNS.length - 1 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("  ")
      .trimEnd(),
  );
  const notes = results.filter((result) => result.notes).map(({ name, notes }) => `${name}: ${notes}`);
  return [...lines, ...(notes.length > 0 ? ["", ...notes] : [])].join("\n");
}

/** Formats results as the JSON list that other tools read. */
export function formatJson(results: readonly Result[]): string {
  return `${JSON.stringify(results, null, 2)}\n`;
}

/** Formats three significant digits, whole numbers in full, and a dash for null. */
export function short(value: number | null): string {
  if (value === null) return "–";
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
