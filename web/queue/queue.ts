import type { ReadonlySignal } from "@preact/signals";
import type { LocalFile } from "../../src/browser/index.ts";
import type { MediaInput, Output } from "../../src/index.ts";
import type { Item, ItemState, Wishes } from "./item.ts";

/** The files that the visitor gave the page, and what is done with them. It outlives a reload. */
export interface Queue {
  /** All items, the newest last. */
  readonly items: ReadonlySignal<readonly Item[]>;
  /** Adds files and URLs, looks into each, and gives each the wishes that suit it. */
  add(inputs: readonly MediaInput[]): void;
  /** Changes what shall become of an item that is not started. */
  wish(id: string, wishes: Wishes): void;
  /** Makes tasks of items that are ready; of all of them by default. */
  start(ids?: readonly string[]): Promise<void>;
  cancel(id: string): Promise<void>;
  /** Begins a failed or cancelled item anew. */
  retry(id: string): Promise<void>;
  /** Lets a finished item be changed and started again, as an item of its own beside it. */
  again(id: string): void;
  /** Gives an item the file that it waits for. */
  resume(id: string, file?: LocalFile): Promise<void>;
  /** Stops an item where it runs, and removes it with its output. */
  remove(id: string): Promise<void>;
  /** The bytes of an item that succeeded. */
  output(id: string): Promise<Output>;
}

/** Tells how an item stands. */
export function stateOf(item: Item): ItemState {
  if (item.task) return item.waiting ? "waiting" : item.task.status;
  if (item.fault && !item.source) return "unusable";
  return item.source ? "ready" : "reading";
}
