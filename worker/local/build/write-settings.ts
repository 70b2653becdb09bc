import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import { defaultOf, factsOf, LocalSettings, NativeSettings, ServiceSettings, UNSET } from "../../settings.ts";
import { runMain } from "../cli.ts";
import { ROOT } from "../settings.ts";

type Fields = Readonly<Record<string, z.ZodType>>;

const TABLES = { service: tabulateService, native: tabulateNative } as const;

/**
 * Returns a document with its tables of settings regenerated, each between `<!-- settings: NAME -->` and `<!-- /settings -->`;
 * throws an Error when the document has no place for one.
 */
export function writeSettings(document: string): string {
  return Object.entries(TABLES).reduce((written, [name, tabulate]) => {
    const place = new RegExp(`(?<=<!-- settings: ${name} -->\n\n).*?(?=\n\n<!-- /settings -->)`, "s");
    if (!place.test(written)) throw new Error(`There is no place for the settings of ${name}.`);
    return written.replace(place, () => tabulate());
  }, document);
}

function tabulateService(): string {
  const local: Fields = LocalSettings.shape;
  const service: Fields = ServiceSettings.shape;
  const names = Object.keys(local).filter((name) => !(name in service));
  const rows = [...names, ...Object.keys(service)].map((name) => {
    const field = service[name] ?? local[name];
    return [
      `\`${name}\``,
      factsOf(field).accepts,
      whenUnset(local[name]),
      whenUnset(service[name]),
      factsOf(field).meaning,
    ];
  });
  return tabulate(["Setting", "Value", "`npm run dev`", "Deployed", "Meaning"], rows);
}

function tabulateNative(): string {
  const rows = Object.entries<z.ZodType>(NativeSettings.shape).map(([name, field]) => [
    ...[`\`${name}\``, factsOf(field).accepts, whenUnset(field), factsOf(field).meaning],
  ]);
  return tabulate(["Setting", "Value", "Default", "Meaning"], rows);
}

function whenUnset(field: z.ZodType | undefined): string {
  if (field === undefined) return "–";
  const fallback = defaultOf(field);
  if (fallback === undefined) return UNSET.get(field)?.meaning ?? "must be set";
  return factsOf(field).unit === "seconds" ? inWords(Number(fallback)) : `\`${fallback}\``;
}

const UNITS = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
] as const;

function inWords(seconds: number): string {
  const [unit = 1, name] = UNITS.find(([each]) => seconds >= each && seconds % each === 0) ?? [];
  const count = seconds / unit;
  return `\`${seconds}\`${name ? ` (${count} ${name}${count > 1 ? "s" : ""})` : ""}`;
}

function tabulate(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const write = (row: readonly string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  return [head, widths.map((width) => "-".repeat(width)), ...rows].map(write).join("\n");
}

if (import.meta.main)
  runMain(async () => {
    const path = join(ROOT, "docs", "settings.md");
    await writeFile(path, writeSettings(await readFile(path, "utf8")));
  });
