import { posix } from "node:path";
import { importsOf } from "./layers.ts";
import type { SourceFile } from "./source-files.ts";

/**
 * Finds import cycles among files, types and dynamic imports included, with Tarjan's algorithm: each is the sorted list of files
 * that import one another, directly or indirectly.
 */
export function findCycles(files: readonly SourceFile[]): string[][] {
  const paths = new Set(files.map(({ path }) => path));
  const imports = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .map((name) => posix.join(posix.dirname(file.path), name))
        .filter((path) => paths.has(path)),
    ]),
  );
  const order = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];

  function visit(path: string): number {
    const own = order.size;
    order.set(path, own);
    open.push(path);
    let low = own;
    for (const next of imports.get(path) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? own);
    }
    if (low === own) {
      const cycle = open.splice(open.lastIndexOf(path)).sort();
      if (cycle.length > 1 || imports.get(path)?.includes(path)) cycles.push(cycle);
    }
    return low;
  }

  for (const { path } of files) if (!order.has(path)) visit(path);
  return cycles;
}
