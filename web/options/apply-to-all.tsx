import type { Item, Wishes } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { judged } from "./check-wishes.ts";
import type { AnyOptions } from "./choices.ts";
import type { Form } from "./use-form.ts";

/** Lets the other files of the same kind that are ready become the same; their own times of a trim stay. */
export function ApplyToAll({ item, form: { source, wishes } }: { item: Item; form: Form }) {
  const { queue } = useWorkbench();
  const others = queue.items.value.filter(
    (other) => other.id !== item.id && stateOf(other) === "ready" && other.source?.kind === source.kind,
  );
  if (others.length === 0) return null;
  const apply = () => {
    for (const { id, source: own, wishes: before } of others) {
      if (own)
        queue.wish(id, judged({ ...wishes, options: withTimesOf(before.options, wishes.options) }, own));
    }
  };
  return (
    <button type="button" onClick={apply}>
      <Icon name="copy" />
      Use for all {others.length + 1} files like this
    </button>
  );
}

function withTimesOf(
  { start, end }: AnyOptions,
  { start: _start, end: _end, ...options }: AnyOptions,
): Wishes["options"] {
  const all: AnyOptions = { ...options, start, end };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
