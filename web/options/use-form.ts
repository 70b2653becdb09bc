import { useMemo } from "preact/hooks";
import type { Source } from "../../src/index.ts";
import type { Item, Wishes } from "../queue/item.ts";
import { useWorkbench } from "../workbench.ts";
import { checkWishes, judged, type Verdict } from "./check-wishes.ts";
import { type AnyOptions, withOptions } from "./choices.ts";

/** What every part of the form works with. */
export interface Form {
  readonly source: Source;
  readonly wishes: Wishes;
  readonly options: AnyOptions;
  readonly verdict: Verdict;
  /** Says what is wrong at a field; null where nothing is. */
  faultAt(field: string): string | null;
  /** Changes options; undefined takes one away. */
  change(changes: AnyOptions): void;
  /** Puts other wishes in the place of those that there are by then, which may be newer than what is drawn. */
  wish(change: (wishes: Wishes) => Wishes): void;
}

/** Gives the form of an item that is ready. */
export function useForm({ id, wishes }: Item, source: Source): Form {
  const { queue } = useWorkbench();
  const verdict = useMemo(() => checkWishes(wishes, source), [wishes, source]);
  const wish = (change: (wishes: Wishes) => Wishes) => {
    const now = queue.items.peek().find((item) => item.id === id)?.wishes ?? wishes;
    queue.wish(id, judged(change(now), source));
  };
  return {
    source,
    wishes,
    options: wishes.options,
    verdict,
    faultAt: (field) => (verdict.fault?.field === field ? verdict.fault.message : null),
    change: (changes) => wish((now) => withOptions(now, changes)),
    wish,
  };
}
