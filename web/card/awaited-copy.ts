import type { Item } from "../queue/item.ts";

let from: Item | null = null;

/** Marks an item that is being recreated, so that the page can lead the visitor to the new one. */
export function awaitCopy(item: Item): void {
  from = item;
}

/** Returns, once, whether an item is the one awaited. */
export function isAwaited({ id, name, input }: Item): boolean {
  if (!from || id <= from.id || name !== from.name || input !== from.input) return false;
  from = null;
  return true;
}
