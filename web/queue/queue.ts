import type { ReadonlySignal } from "@preact/signals";
import type { LocalFile } from "../../src/browser/index.ts";
import type { MediaInput, Output } from "../../src/index.ts";
import type { Item, ItemState, Wishes } from "./item.ts";

/** The files that the visitor gave the page, and what is done with them. It outlives a reload, and all tabs share it. */
export interface Queue {
  /** All items, the newest last. */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** False until it is known what an earlier visit left. */
  readonly loaded: ReadonlySignal<boolean>;
  /** Adds files and URLs, looks into each, and gives each the wishes that suit it. */
  add(inputs: readonly MediaInput[]): void;
  /** Changes what shall become of an item that is not started. */
  wish(id: string, wishes: Wishes): void;
  /** Creates tasks of items that are ready; by default of all that can be started. */
  start(ids?: readonly string[]): Promise<void>;
  cancel(id: string): Promise<void>;
  /** Begins a failed or cancelled item anew; looks again into one that could not be read. */
  retry(id: string): Promise<void>;
  /** Has the service do what failed here, or could not be read here. Only ever by the visitor's own click, as the file leaves the machine. */
  sendToEdge(id: string): Promise<void>;
  /** Lets a finished item be changed and started again, as an item of its own beside it. */
  again(id: string): void;
  /** Gives an item the file that it waits for; without one the visitor is asked to allow the old one to be read, which needs a click. Rejects with a MediaError for another file. */
  resume(id: string, file?: LocalFile): Promise<void>;
  /** Stops an item where it runs, and removes it with its output. */
  remove(id: string): Promise<void>;
  /** The bytes of an item that succeeded. */
  output(id: string): Promise<Output>;
}

/** Tells how an item stands. */
export function stateOf(item: Item): ItemState {
  if (item.waiting) return "waiting";
  if (item.task) return item.task.status;
  if (item.starting) return "sending";
  if (item.source) return "ready";
  return item.fault ? "unusable" : "reading";
}

/** True when an item can be started as it is. */
export function isStartable(item: Item): boolean {
  return stateOf(item) === "ready" && !item.wishes.fault;
}

/** True when nothing more happens to an item by itself. */
export function isOver(item: Item): boolean {
  return ["succeeded", "failed", "cancelled"].includes(stateOf(item));
}
