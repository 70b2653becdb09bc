import type { ReadonlySignal } from "@preact/signals";
import type { LocalFile } from "../../src/browser/index.ts";
import type { MediaInput, Output } from "../../src/index.ts";
import type { Job } from "../home/jobs.ts";
import type { Item, ItemState, Naming, Settings } from "./item.ts";

/** The visitor's files and what happens to them. Survives a reload, and is shared by all tabs. */
export interface Queue {
  /** All items, newest last. */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** False until the items of an earlier visit are known. */
  readonly loaded: ReadonlySignal<boolean>;
  /** Adds files and URLs, probes each, and gives each the options of a job, or the default options of its kind. */
  add(inputs: readonly MediaInput[], job?: Job | null): void;
  /** Changes the options of an unstarted item. */
  configure(id: string, settings: Settings): void;
  /** Names the outputs of an item by a pattern; null for the name of its file. */
  rename(id: string, naming: Naming | null): void;
  /** Gives items new ranks, which determine the order of the list, and in which items start. */
  reorder(ranks: ReadonlyMap<string, number>): void;
  /** Creates tasks from items that are ready, by default from all of them; items of one file become a job. */
  start(ids?: readonly string[]): Promise<void>;
  cancel(id: string): Promise<void>;
  /** Restarts a failed or cancelled item, or probes an unreadable one again. Repeated calls, also in other tabs, start it once. */
  retry(id: string): Promise<void>;
  /**
   * Sends an item that failed or could not be read here to the service. Call it only on a click, because the file leaves
   * the machine.
   */
  sendToEdge(id: string): Promise<void>;
  /** Copies an item that is ready or finished, to make another output of its file. */
  again(id: string): void;
  /**
   * Provides the file that an item waits for; without one, asks the visitor to allow reading the old one, which needs a
   * click. Rejects with a MediaError for a different file.
   */
  resume(id: string, file?: LocalFile): Promise<void>;
  /** Cancels an item where it runs, and removes it with its output. */
  remove(id: string): Promise<void>;
  output(id: string): Promise<Output>;
}

export function stateOf(item: Item): ItemState {
  if (item.waiting) return "waiting";
  if (item.task) return item.task.status;
  if (item.starting) return "sending";
  if (item.source) return "ready";
  return item.fault ? "unusable" : "reading";
}

export function isStartable(item: Item): boolean {
  return stateOf(item) === "ready" && !item.settings.fault;
}

export function isRetryable(item: Item): boolean {
  return ["failed", "cancelled", "unusable"].includes(stateOf(item));
}

/** Returns whether an item has reached its final state. */
export function isOver(item: Item): boolean {
  return ["succeeded", "failed", "cancelled"].includes(stateOf(item));
}

export interface Totals {
  /** Ready, with valid options. */
  readonly ready: number;
  /** Uploading, waiting for their turn, or converting. */
  readonly running: number;
  readonly succeeded: number;
  /** Finished in any way. */
  readonly over: number;
  /** Percentage of the current batch, including its finished items; null while nothing runs. */
  readonly percent: number | null;
}

const RUNNING: ReadonlySet<string> = new Set(["sending", "queued", "processing"]);

export function totalsOf(items: readonly Item[]): Totals {
  const states = items.map(stateOf);
  const running = items.filter((_, index) => RUNNING.has(states[index] ?? ""));
  const count = (state: string) => states.filter((each) => each === state).length;
  const over = items.filter(isOver);
  const began = Math.min(...running.map(({ task }) => task?.created_at ?? Number.POSITIVE_INFINITY));
  const finishedCount = over.filter(({ task }) => (task?.finished_at ?? 0) >= began).length;
  const done = running.reduce((sum, { pace }) => sum + (pace?.progress ?? 0), 100 * finishedCount);
  return {
    ready: items.filter(isStartable).length,
    running: running.length,
    succeeded: count("succeeded"),
    over: over.length,
    percent: running.length === 0 ? null : Math.floor(done / (running.length + finishedCount)),
  };
}

let from: Item | null = null;

/** Marks an item that is being recreated, so that the page can lead the visitor to the new one. */
export function awaitCopy(item: Item): void {
  from = item;
}

/** Returns, once, whether an item is the one awaited. */
export function isAwaited({ id, name, input }: Item): boolean {
  if (!from || id <= from.id || name !== from.name || input !== from.input) return false;
  from = null;
  return true;
}
