import type { Item } from "./item.ts";

// Outputs of a job.
const MOST = 10;

/** Groups the ids of items of one file that are processed in one place, as many as fit into a job. */
export function groupByFile(items: readonly Item[]): string[][] {
  const groups = new Map<string, string[]>();
  const all: string[][] = [];
  for (const { id, file_of, wishes } of items) {
    const key = `${wishes.place} ${file_of ?? id}`;
    const open = groups.get(key);
    if (open && open.length < MOST) {
      open.push(id);
      continue;
    }
    const group = [id];
    groups.set(key, group);
    all.push(group);
  }
  return all;
}
