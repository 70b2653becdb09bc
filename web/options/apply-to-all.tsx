import { useState } from "preact/hooks";
import type { Item, Wishes } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { ownPresets } from "./presets/own-presets.ts";
import { PRESETS } from "./presets/presets.ts";
import { sameFor } from "./same-for.ts";
import type { Form } from "./use-form.ts";

/** Applies an item's options to all other items of the same kind that are ready. */
export function ApplyToAll({ item, form: { source, wishes } }: { item: Item; form: Form }) {
  const { queue } = useWorkbench();
  // The options it was applied for, and the result; it is shown for no others.
  const [used, setUsed] = useState<{ wishes: Wishes; words: string } | null>(null);
  const others = queue.items.value.filter(
    (other) => other.id !== item.id && stateOf(other) === "ready" && other.source?.kind === source.kind,
  );
  if (others.length === 0) return null;
  const apply = () => {
    const wrong: string[] = [];
    for (const other of others) {
      if (!other.source) continue;
      const same = sameFor(wishes, [...PRESETS, ...ownPresets.value], { ...other, source: other.source });
      queue.wish(other.id, same);
      if (same.fault) wrong.push(other.name);
    }
    setUsed({ wishes, words: usedWords(others.length, wrong) });
  };
  return (
    <div class="apply">
      <button type="button" onClick={apply}>
        <Icon name="copy" />
        Use for all {others.length + 1} files like this
      </button>
      <p class="soft small" role="status">
        {used?.wishes === wishes && used.words}
      </p>
    </div>
  );
}

function usedWords(count: number, wrong: readonly string[]): string {
  const said = count === 1 ? "Applied to the other file." : `Applied to the ${count} other files.`;
  if (wrong.length === 0) return said;
  return `${said} Look at the options of ${wrong[0]}${wrong.length > 1 ? ` and ${wrong.length - 1} more` : ""}: they do not fit it.`;
}
