import type { Item } from "../queue/item.ts";

let from: Item | null = null;

/** Notes that an item is being made anew, so that its visitor can be led to the new one. */
export function awaitCopy(item: Item): void {
  from = item;
}

/** Tells, once, that an item is the one that is awaited. */
export function isAwaited({ id, name, input }: Item): boolean {
  if (!from || id <= from.id || name !== from.name || input !== from.input) return false;
  from = null;
  return true;
}
