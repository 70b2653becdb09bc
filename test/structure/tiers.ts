import { posix } from "node:path";
import { parseSync } from "vite";
import type { SourceFile } from "./source-files.ts";

/** Tiers of test files in their names, with the modules that a tier alone may import; the first match wins. */
export const TIERS = {
  browser: ["@playwright/test"],
  service: [
    "wrangler",
    "node:http",
    "node:https",
    "node:net",
    "node:tls",
    "node:dgram",
    "test/fixtures/workerd.ts",
  ],
  ffmpeg: ["node:child_process", "node:worker_threads", "node:cluster"],
} as const;
/** A tier by imports; a test that watches the clock is of tier `timed` whatever it imports. */
export type Tier = keyof typeof TIERS | "fast";

/** Returns the tier that each test file's name must state, by what it imports directly or indirectly. */
export function classifyTests(files: readonly SourceFile[]): Map<string, Tier> {
  const imports = new Map(files.map((file) => [file.path, valueImportsOf(file)]));
  const tests = [...imports.keys()].filter((path) => path.endsWith(".test.ts"));
  return new Map(tests.map((path) => [path, tierOf(reachableFrom(path, imports))]));
}

/** Returns the tier that a test file's name states. */
export function statedTier(path: string): string {
  return /\.(ffmpeg|service|browser|timed)\.test\.ts$/.exec(path)?.[1] ?? "fast";
}

function tierOf(modules: ReadonlySet<string>): Tier {
  for (const [tier, only] of Object.entries(TIERS))
    if (only.some((name) => modules.has(name))) return tier as Tier;
  return "fast";
}

function reachableFrom(path: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const visited = new Set([path]);
  for (const each of visited) for (const next of imports.get(each) ?? []) visited.add(next);
  return visited;
}

// Imports of types are left out, because they are erased.
function valueImportsOf({ path, text }: SourceFile): string[] {
  const { module } = parseSync(path, text, { lang: path.endsWith("x") ? "tsx" : "ts" });
  const dynamic = module.dynamicImports.map(({ moduleRequest: { start, end } }) =>
    text.slice(start + 1, end - 1),
  );
  const names = [
    ...module.staticImports
      .filter(({ entries }) => entries.length === 0 || entries.some((entry) => !entry.isType))
      .map((each) => each.moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap((entry) => (entry.isType ? [] : (entry.moduleRequest?.value ?? []))),
    ),
    ...dynamic,
  ];
  return names.map((name) => (name.startsWith(".") ? posix.join(posix.dirname(path), name) : name));
}
