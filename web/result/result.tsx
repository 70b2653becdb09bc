import type { Item } from "../queue/item.ts";

/** What came of an item that succeeded: to play, to compare with what it was, and to take along. */
export function Result({ item }: { item: Item }) {
  return <p class="soft">{item.task?.status}</p>;
}
