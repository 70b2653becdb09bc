import { useMemo } from "preact/hooks";
import type { Source } from "../../src/index.ts";
import type { Item, Wishes } from "../queue/item.ts";
import { useWorkbench } from "../workbench.ts";
import { checkWishes, judged, type Verdict } from "./check-wishes.ts";
import { type AnyOptions, withOptions } from "./choices.ts";

export interface Form {
  readonly source: Source;
  readonly wishes: Wishes;
  readonly options: AnyOptions;
  readonly verdict: Verdict;
  /** Returns the error of a field; null when it has none. */
  faultAt(field: string): string | null;
  /** Changes options; undefined removes one. */
  change(changes: AnyOptions): void;
  /** Replaces the current options, which may be newer than those rendered. */
  wish(change: (wishes: Wishes) => Wishes): void;
}

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
