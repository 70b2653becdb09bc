import type { Item, ItemState } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";

const WORDS: Readonly<Record<ItemState, string>> = {
  reading: "Reading…",
  unusable: "Can't be used",
  ready: "Ready",
  sending: "Starting…",
  queued: "Waiting for its turn",
  processing: "Converting",
  succeeded: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
  waiting: "Waiting for its file",
};

export function stateWords(item: Item): string {
  const state = stateOf(item);
  if (state === "sending" && item.starting?.waits) return WORDS.queued;
  if (state === "sending" && item.starting?.sent !== null) return "Sending";
  return isIdle(item) ? "Waiting for a free encoder" : WORDS[state];
}

/** Returns whether an item's task is running, but its encode is waiting for others. */
export function isIdle(item: Item): boolean {
  const { pace, task } = item;
  const encode = task?.steps.find(({ kind }) => kind === task.kind);
  return stateOf(item) === "processing" && pace?.waits === true && !encode?.progress;
}
