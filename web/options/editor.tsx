import type { Item } from "../queue/item.ts";
import { type Stretch, Trim } from "../trim/trim.tsx";
import { useWorkbench } from "../workbench.ts";

/** What shall become of a file that is ready: options, presets, a preview, and where they make sense the times of a trim. */
export function Editor({ item }: { item: Item }) {
  const { queue } = useWorkbench();
  const { id, input, source, wishes } = item;
  if (!input || !source || wishes.kind === "image" || source.kind === "image") return null;
  const { start, end, ...options } = wishes.options as Stretch;
  const stretch = { ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
  return (
    <Trim
      input={input}
      source={source}
      stretch={stretch}
      onChange={(next) => queue.wish(id, { ...wishes, options: { ...options, ...next } })}
    />
  );
}
