import { type ReadonlySignal, signal } from "@preact/signals";
import type { Item } from "./item.ts";

/** Items as rendered. However many change at once, only a few are rendered per frame, so that the page stays responsive. */
export interface ShownItems {
  /** In the order in which their files were added; items of one file follow each other. */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** Renders with one of the next frames that an item was added, changed or removed. */
  changed(id: string): void;
  /** Renders now: the given item, or the first changes of all. */
  show(id?: string): void;
}

// As many as a slow machine renders well within 50 ms.
const MOST = 8;

/** Creates {@link ShownItems} from the current items; `soon` runs work with one of the next frames. */
export function createShownItems(
  current: ReadonlyMap<string, Item>,
  soon: (work: () => void) => void,
): ShownItems {
  const items = signal<readonly Item[]>([]);
  const changes = new Set<string>();
  let scheduled = false;

  function draw(ids: readonly string[]): void {
    for (const id of ids) changes.delete(id);
    const drawn = new Set(ids);
    const before = items.peek().filter(({ id }) => !drawn.has(id));
    const after = ids.map((id) => current.get(id)).filter((item) => item !== undefined);
    items.value = [...before, ...after].sort(inOrder);
  }

  function schedule(): void {
    if (scheduled || changes.size === 0) return;
    scheduled = true;
    soon(() => {
      scheduled = false;
      if (changes.size > 0) draw([...changes].slice(0, MOST));
      schedule();
    });
  }

  return {
    items,
    changed(id) {
      changes.add(id);
      schedule();
    },
    show: (id) => draw(id === undefined ? [...changes].slice(0, MOST) : [id]),
  };
}

// Ids grow with time, and a file's first item has its id.
function inOrder(one: Item, other: Item): number {
  const [file, otherFile] = [one.file_of ?? one.id, other.file_of ?? other.id];
  if (file !== otherFile) return file < otherFile ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}
