import type { ItemState } from "../queue/item.ts";

/** How an item stands, in the words of a card. */
export const STATE_WORDS: Readonly<Record<ItemState, string>> = {
  reading: "Reading…",
  unusable: "Cannot be used",
  ready: "Ready",
  sending: "Starting…",
  queued: "Waiting for its turn",
  processing: "Converting",
  succeeded: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
  waiting: "Waiting for its file",
};
