import type { ReadonlySignal } from "@preact/signals";
import type { LocalFile } from "../../src/browser/index.ts";
import type { MediaInput, Output } from "../../src/index.ts";
import type { Item, ItemState, Wishes } from "./item.ts";

/** The visitor's files and what happens to them. Survives a reload, and is shared by all tabs. */
export interface Queue {
  /** All items, newest last. */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** False until the items of an earlier visit are known. */
  readonly loaded: ReadonlySignal<boolean>;
  /** Adds files and URLs, probes each, and gives each the default options for it. */
  add(inputs: readonly MediaInput[]): void;
  /** Changes the options of an unstarted item. */
  wish(id: string, wishes: Wishes): void;
  /** Creates tasks from items that are ready, of those of one file as a job; by default from all that can be started. */
  start(ids?: readonly string[]): Promise<void>;
  cancel(id: string): Promise<void>;
  /** Restarts a failed or cancelled item, once however often and in however many tabs it is called; probes one again that could not be read. */
  retry(id: string): Promise<void>;
  /**
   * Has the service do what failed here, or could not be read here. Only ever at the visitor's click, because the file
   * leaves the machine.
   */
  sendToEdge(id: string): Promise<void>;
  /** Copies an item that is ready or finished, so that its file can become something else too. */
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
  return stateOf(item) === "ready" && !item.wishes.fault;
}

export function isRetryable(item: Item): boolean {
  return ["failed", "cancelled", "unusable"].includes(stateOf(item));
}

/** Returns whether an item has reached its final state. */
export function isOver(item: Item): boolean {
  return ["succeeded", "failed", "cancelled"].includes(stateOf(item));
}
