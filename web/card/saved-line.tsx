import type { Item } from "../queue/item.ts";
import { saving } from "../result/save/saving.ts";

/**
 * The file sizes before and after for an item that succeeded; nothing when they are unknown, or when the output has many
 * files.
 */
export function SavedLine({ item: { size, source, task } }: { item: Item }) {
  const made = task?.steps.find(({ output }) => output?.encoder)?.output;
  const before = size ?? source?.filesize ?? null;
  if (made?.filesize === undefined || made.kind === "adaptive_video" || before === null) return null;
  return <p class="saved numbers">{saving(before, made.filesize)}</p>;
}
