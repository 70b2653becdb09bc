import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useWorkbench } from "../workbench.ts";
import { announce } from "./announcements.ts";
import type { Item } from "./item.ts";

// Changes within this time are announced together.
const MOMENT_MS = 500;

/** Announces changes in the queue to screen readers, politely. */
export function Announcer() {
  const { queue } = useWorkbench();
  const words = useSignal("");
  useEffect(() => {
    let said: readonly Item[] = queue.items.peek();
    let timer: number | null = null;
    const tell = () => {
      timer = null;
      const items = queue.items.peek();
      words.value = announce(said, items) || words.value;
      said = items;
    };
    const stop = queue.items.subscribe(() => {
      timer ??= setTimeout(tell, MOMENT_MS);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [queue, words]);
  return (
    <p class="visually-hidden" role="status" aria-label="News of the queue">
      {words.value}
    </p>
  );
}
