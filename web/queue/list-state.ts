import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { LocalClient } from "../../src/browser/index.ts";
import { createEstimates, type Estimates } from "./estimates.ts";
import type { Item } from "./item.ts";
import { ranksAfterMove } from "./item-list.ts";
import * as strings from "./list-strings.ts";
import type { Queue } from "./queue.ts";
import { removedIds } from "./undo.tsx";

/** The state of the list: its items, their selection and estimates. The address has the rest: the open editor and the filter. */
export interface ListState {
  /** The items of the list, without those that are being removed. */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** Ids of the selected items. */
  readonly selected: ReadonlySignal<ReadonlySet<string>>;
  readonly estimates: Estimates;
  /** Selects or deselects an item; with `isExtended`, also all items between it and the last one that was selected. */
  select(id: string, isSelected: boolean, isExtended?: boolean): void;
  /** Selects these items and no others. */
  selectAll(ids: readonly string[]): void;
  /** Moves an item by some places, or to the place of another. */
  move(id: string, to: number | string): void;
  /** A message for screen readers about the place to which an item was last moved; empty at first. */
  readonly lastMove: ReadonlySignal<string>;
  /** Estimates an item while its element is in view; returns a function that stops this. */
  watch(element: Element, id: string): () => void;
  /** Ends the estimates, once the list has left the page. */
  end(): void;
}

/** Creates the {@link ListState} of a queue. */
export function createListState(queue: Queue, device: LocalClient): ListState {
  const selected = signal<ReadonlySet<string>>(new Set());
  const estimates = createEstimates(queue, device);
  const ids = new WeakMap<Element, string>();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) estimates.see(ids.get(target) ?? "", isIntersecting);
  });
  const items = computed(() => queue.items.value.filter(({ id }) => !removedIds.value.has(id)));
  const lastMove = signal("");
  let last: string | null = null;
  return {
    items,
    selected,
    estimates,
    select(id, isSelected, isExtended = false) {
      const all = items.peek().map((item) => item.id);
      const [from, to] = [all.indexOf(last ?? id), all.indexOf(id)];
      const range = isExtended && from >= 0 ? all.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
      const next = new Set(selected.peek());
      for (const each of range) {
        if (isSelected) next.add(each);
        else next.delete(each);
      }
      selected.value = next;
      last = id;
    },
    lastMove,
    move(id, to) {
      const all = items.peek();
      const from = all.findIndex((item) => item.id === id);
      const index = typeof to === "number" ? from + to : all.findIndex((item) => item.id === to);
      const item = all[from];
      if (!item || index < 0 || index >= all.length || index === from) return;
      queue.reorder(ranksAfterMove(all, id, index));
      lastMove.value = strings.movedTo({ name: item.name, place: index + 1, count: all.length });
    },
    selectAll: (all) => {
      selected.value = new Set(all);
    },
    watch(element, id) {
      ids.set(element, id);
      observer.observe(element);
      return () => {
        observer.unobserve(element);
        estimates.see(id, false);
      };
    },
    end() {
      observer.disconnect();
      estimates.end();
    },
  };
}
