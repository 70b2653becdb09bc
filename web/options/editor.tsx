import type { Item } from "../queue/item.ts";

/** What shall become of a file that is ready: options, presets, a preview, and where they make sense the times of a trim. */
export function Editor({ item }: { item: Item }) {
  return <p class="soft">{item.wishes.kind}</p>;
}
