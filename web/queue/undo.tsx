import { type ReadonlySignal, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../ui/icon.tsx";
import type { Item, Naming, Settings } from "./item.ts";
import * as strings from "./list-strings.ts";
import { type Queue, stateOf } from "./queue.ts";

const REMOVALS = "framewright-removed";
const TOAST_MS = 10_000;
const MAX_STEPS = 100;
/** Changes that follow each other faster are one step, such as typed digits or a drag. */
const ONE_STEP_MS = 700;

interface Step {
  /** Says what was done. */
  readonly words: string;
  undo(): void;
  /** Makes the step final. */
  end(): void;
}

const toast = signal<Step | null>(null);
const hiddenIds = signal<ReadonlySet<string>>(new Set());

/** Ids of the items whose removal can still be undone. */
export const removedIds: ReadonlySignal<ReadonlySet<string>> = hiddenIds;

/** Hides items from the list, cancels those that run, and removes all of them once the visitor can no longer undo it. */
export function remove(
  queue: Queue,
  items: readonly Item[],
  /** The other change of the same step, which "Undo" takes back too, and its message. */
  rest?: { readonly words: string; undo(): void },
): void {
  const key = crypto.randomUUID();
  const ids = items.map(({ id }) => id);
  const running = items.filter(isRunning);
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  hiddenIds.value = new Set([...hiddenIds.peek(), ...ids]);
  writeRemovals((removals) => ({ ...removals, [key]: ids }));
  void navigator.locks.request(lockOf(key), () => settled);
  const stops = Promise.all(running.map(({ id }) => queue.cancel(id)));
  const forget = () => {
    hiddenIds.value = new Set([...hiddenIds.peek()].filter((id) => !ids.includes(id)));
    writeRemovals(({ [key]: _, ...others }) => others);
    settle();
  };
  show({
    words: rest?.words ?? strings.removed({ count: items.length }),
    undo() {
      forget();
      rest?.undo();
      // A conversion can start again only once it has stopped.
      void stops.then(() => {
        for (const { id, task } of running) if (task) void queue.retry(id);
      });
    },
    end: () => void Promise.all(ids.map((id) => queue.remove(id))).then(forget),
  });
}

/** Returns whether an item is sent or converted, or waits for its turn. */
export function isRunning(item: Item): boolean {
  return ["sending", "queued", "processing"].includes(stateOf(item));
}

/** Completes removals that an earlier visit left open, unless another tab can still undo them. */
export function finishRemovals(queue: Queue): void {
  for (const [key, ids] of Object.entries(readRemovals())) {
    void navigator.locks.request(lockOf(key), async () => {
      if (!(key in readRemovals())) return;
      await Promise.all(ids.map((id) => queue.remove(id)));
      writeRemovals(({ [key]: _, ...others }) => others);
    });
  }
}

function lockOf(key: string): string {
  return `${REMOVALS} ${key}`;
}

/** The ids of the items of each open removal. */
type Removals = Readonly<Record<string, readonly string[]>>;

function readRemovals(): Removals {
  try {
    return Object(JSON.parse(localStorage.getItem(REMOVALS) ?? "{}"));
  } catch {
    return {};
  }
}

function writeRemovals(change: (removals: Removals) => Removals): void {
  try {
    localStorage.setItem(REMOVALS, JSON.stringify(change(readRemovals())));
  } catch {}
}

/** The earlier settings of an item, and the later ones that were undone. */
interface History {
  readonly past: readonly Settings[];
  readonly future: readonly Settings[];
  /** Time of the last change, in milliseconds of `performance.now()`. */
  readonly at: number;
}

const EMPTY: History = { past: [], future: [], at: Number.NEGATIVE_INFINITY };
const histories = signal<ReadonlyMap<string, History>>(new Map());

/** Returns what can be undone and redone of an item's settings. */
export function historyOf(id: string): History {
  return histories.value.get(id) ?? EMPTY;
}

/** Changes an item's settings in a way that the visitor can undo. */
export function changeSettings(queue: Queue, { id, settings: before }: Item, after: Settings): void {
  const { past, at } = histories.peek().get(id) ?? EMPTY;
  const now = performance.now();
  const isSameStep = past.length > 0 && now - at < ONE_STEP_MS;
  setHistory(id, { past: isSameStep ? past : [...past, before].slice(-MAX_STEPS), future: [], at: now });
  queue.configure(id, after);
}

/** Changes the settings of several items as one step, and shows `words` with a button that undoes it. */
export function changeAll(queue: Queue, changes: Changes, words: string): void {
  show({ words, undo: changeTogether(queue, changes), end: () => {} });
}

/** Lets the first of several items play the others after it, and removes these, as one step that a button undoes. */
export function join(queue: Queue, first: Item, settings: Settings, others: readonly Item[]): void {
  const undo = changeTogether(queue, [[first, settings]]);
  remove(queue, others, { words: strings.joined({ count: others.length + 1, name: first.name }), undo });
}

type Changes = readonly (readonly [Item, Settings])[];

/** Changes the settings of several items as one step; returns what undoes it. */
function changeTogether(queue: Queue, changes: Changes): () => void {
  for (const [item, after] of changes) {
    endStep(item);
    changeSettings(queue, item, after);
    endStep(item);
  }
  return () => {
    const items = new Map(queue.items.peek().map((item) => [item.id, item]));
    for (const [{ id, settings }] of changes) {
      const item = items.get(id);
      if (!item || stateOf(item) !== "ready") continue;
      // A later change stays in the history, so that the visitor can restore it.
      if (historyOf(id).past.at(-1) === settings) stepHistory(queue, item, "past");
      else changeSettings(queue, item, settings);
    }
  };
}

/** Names the outputs of several items, and shows a message with a button that undoes it. */
export function nameAll(queue: Queue, changes: readonly (readonly [Item, Naming | null])[]): void {
  for (const [{ id }, naming] of changes) queue.rename(id, naming);
  show({
    words: strings.named({ count: changes.length }),
    undo: () => {
      for (const [{ id, naming = null }] of changes) queue.rename(id, naming);
    },
    end: () => {},
  });
}

/** Makes the next change of an item's settings a step of its own, however soon it comes. */
function endStep({ id }: Item): void {
  setHistory(id, { ...(histories.peek().get(id) ?? EMPTY), at: EMPTY.at });
}

/** Undoes the last step of an item's settings, or with `"future"` redoes the next one. */
export function stepHistory(queue: Queue, { id, settings }: Item, direction: "past" | "future"): void {
  const { past, future } = histories.peek().get(id) ?? EMPTY;
  const target = (direction === "past" ? past : future).at(-1);
  if (!target) return;
  const at = Number.NEGATIVE_INFINITY;
  if (direction === "past") setHistory(id, { past: past.slice(0, -1), future: [...future, settings], at });
  else setHistory(id, { past: [...past, settings], future: future.slice(0, -1), at });
  queue.configure(id, target);
}

function setHistory(id: string, history: History): void {
  histories.value = new Map([...histories.peek(), [id, history]]);
}

function show(step: Step): void {
  toast.peek()?.end();
  toast.value = step;
}

/** A message that says what was just done, with a button that undoes it. It stays while the pointer or the focus is on it. */
export function Toast() {
  const step = toast.value;
  const box = useRef<HTMLDivElement>(null);
  const close = (isUndone: boolean) => {
    toast.value = null;
    if (isUndone) step?.undo();
    else step?.end();
  };
  // The key that undoes a step may follow at once.
  useLayoutEffect(() => {
    if (!step) return;
    let timer = 0;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const isInUse = box.current?.matches(":hover, :focus-within");
        if (isInUse) wait();
        else close(false);
      }, TOAST_MS);
    };
    wait();
    const key = (event: KeyboardEvent) => {
      const isField = event.target instanceof Element && event.target.matches("input, textarea, select");
      if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || isField) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      close(true);
    };
    addEventListener("keydown", key, { capture: true });
    return () => {
      clearTimeout(timer);
      removeEventListener("keydown", key, { capture: true });
    };
  }, [step]);
  return (
    <div class="toasts" role="status" aria-label={strings.lastAction}>
      {step && (
        <div class="toast" ref={box}>
          <span>{step.words}</span>
          <button type="button" onClick={() => close(true)}>
            {strings.undo}
          </button>
          <button type="button" class="icon" aria-label={strings.dismiss} onClick={() => close(false)}>
            <Icon name="cancel" />
          </button>
        </div>
      )}
    </div>
  );
}
