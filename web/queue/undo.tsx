import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../ui/icon.tsx";
import type { Item, Settings } from "./item.ts";
import * as strings from "./list-strings.ts";
import { type Queue, stateOf } from "./queue.ts";

const MARKS = "framewright-removed";
const SHOWN_MS = 10_000;
const MAX_STEPS = 100;
/** Changes that follow each other faster are one step, such as typed digits or a drag. */
const ONE_STEP_MS = 700;

interface Step {
  readonly words: string;
  undo(): void;
  /** Makes the step final. */
  end(): void;
}

const toast = signal<Step | null>(null);
const hidden = signal<ReadonlySet<string>>(new Set());

/** Ids of the items that are being removed, and can still be taken back. */
export const removed: ReadonlySignal<ReadonlySet<string>> = hidden;

/** Removes items from the list, and for good once the visitor can no longer take it back. Those that run stop at once. */
export function remove(queue: Queue, items: readonly Item[]): void {
  const key = crypto.randomUUID();
  const ids = items.map(({ id }) => id);
  const running = items.filter((item) => ["sending", "queued", "processing"].includes(stateOf(item)));
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  hidden.value = new Set([...hidden.peek(), ...ids]);
  writeMarks((marks) => ({ ...marks, [key]: ids }));
  void navigator.locks.request(lockOf(key), () => settled);
  for (const { id } of running) void queue.cancel(id);
  const forget = () => {
    hidden.value = new Set([...hidden.peek()].filter((id) => !ids.includes(id)));
    writeMarks(({ [key]: _, ...others }) => others);
    settle();
  };
  show({
    words: strings.removed({ count: items.length }),
    undo() {
      forget();
      for (const { id, task } of running) if (task) void queue.retry(id);
    },
    end: () => void Promise.all(ids.map((id) => queue.remove(id))).then(forget),
  });
}

/** Removes what an earlier visit removed shortly before it ended, unless another tab can still take it back. */
export function finishRemovals(queue: Queue): void {
  for (const [key, ids] of Object.entries(readMarks())) {
    void navigator.locks.request(lockOf(key), async () => {
      if (!(key in readMarks())) return;
      await Promise.all(ids.map((id) => queue.remove(id)));
      writeMarks(({ [key]: _, ...others }) => others);
    });
  }
}

function lockOf(key: string): string {
  return `${MARKS} ${key}`;
}

type Marks = Readonly<Record<string, readonly string[]>>;

function readMarks(): Marks {
  try {
    return Object(JSON.parse(localStorage.getItem(MARKS) ?? "{}"));
  } catch {
    return {};
  }
}

function writeMarks(change: (marks: Marks) => Marks): void {
  try {
    localStorage.setItem(MARKS, JSON.stringify(change(readMarks())));
  } catch {}
}

/** The settings that an item had, and those that it would have again. */
interface History {
  readonly past: readonly Settings[];
  readonly future: readonly Settings[];
  readonly at: number;
}

const EMPTY: History = { past: [], future: [], at: Number.NEGATIVE_INFINITY };
const histories = signal<ReadonlyMap<string, History>>(new Map());

/** Returns what can be undone and redone of an item's settings. */
export function historyOf(id: string): History {
  return histories.value.get(id) ?? EMPTY;
}

/** Changes an item's settings, so that the visitor can undo it. */
export function changeSettings(queue: Queue, { id, settings: before }: Item, after: Settings): void {
  const { past, at } = histories.peek().get(id) ?? EMPTY;
  const now = performance.now();
  const isSameStep = past.length > 0 && now - at < ONE_STEP_MS;
  keep(id, { past: isSameStep ? past : [...past, before].slice(-MAX_STEPS), future: [], at: now });
  queue.configure(id, after);
}

/** Changes the settings of several items as one step, and says so with a way back. */
export function changeAll(
  queue: Queue,
  changes: readonly (readonly [Item, Settings])[],
  words: string,
): void {
  for (const [item, after] of changes) changeSettings(queue, item, after);
  show({
    words,
    undo: () => {
      for (const [{ id, settings }] of changes) queue.configure(id, settings);
    },
    end: () => {},
  });
}

/** Goes one step back in an item's settings, or with `"future"` forth again. */
export function travel(queue: Queue, { id, settings }: Item, direction: "past" | "future"): void {
  const { past, future } = histories.peek().get(id) ?? EMPTY;
  const target = (direction === "past" ? past : future).at(-1);
  if (!target) return;
  const at = Number.NEGATIVE_INFINITY;
  if (direction === "past") keep(id, { past: past.slice(0, -1), future: [...future, settings], at });
  else keep(id, { past: [...past, settings], future: future.slice(0, -1), at });
  queue.configure(id, target);
}

function keep(id: string, history: History): void {
  histories.value = new Map([...histories.peek(), [id, history]]);
}

function show(step: Step): void {
  toast.peek()?.end();
  toast.value = step;
}

/** Says what was just done, with a way to take it back. It stays while the pointer or the focus is on it. */
export function Toast() {
  const step = toast.value;
  const box = useRef<HTMLDivElement>(null);
  const close = (isUndone: boolean) => {
    toast.value = null;
    if (isUndone) step?.undo();
    else step?.end();
  };
  useEffect(() => {
    if (!step) return;
    let timer = 0;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const isHeld = box.current?.matches(":hover, :focus-within");
        if (isHeld) wait();
        else close(false);
      }, SHOWN_MS);
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
    <div class="toasts" role="status" aria-label={strings.whatWasDone}>
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
