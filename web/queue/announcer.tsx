import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useWorkbench } from "../workbench.ts";
import type { Item } from "./item.ts";
import * as strings from "./strings.ts";

const MOMENT_MS = 500;

/** Announces changes in the queue to screen readers, politely. */
export function Announcer() {
  const { queue } = useWorkbench();
  const words = useSignal("");
  useEffect(() => {
    let announced: readonly Item[] = queue.items.peek();
    let timer: number | null = null;
    const tell = async () => {
      timer = null;
      const [before, items] = [announced, queue.items.peek()];
      if (before.length + items.length === 0) return;
      announced = items;
      const { announce } = await import("./announcements.ts");
      words.value = announce(before, items) || words.value;
    };
    const stop = queue.items.subscribe(() => {
      timer ??= setTimeout(() => void tell(), MOMENT_MS);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [queue, words]);
  return (
    <p class="visually-hidden" role="status" aria-label={strings.newsOfQueue}>
      {words.value}
    </p>
  );
}
