import { useEffect } from "preact/hooks";
import { sleep } from "../../../src/util/sleep.ts";

/** Runs something while the tab can be seen, and aborts its signal when it is hidden; it runs anew when the tab is seen again. Gives what ends it. */
export function whileVisible(run: (signal: AbortSignal) => void): () => void {
  let running: AbortController | null = null;
  const turn = () => {
    running?.abort();
    running = document.visibilityState === "visible" ? new AbortController() : null;
    if (running) run(running.signal);
  };
  document.addEventListener("visibilitychange", turn);
  turn();
  return () => {
    document.removeEventListener("visibilitychange", turn);
    running?.abort();
  };
}

/** Calls something that never rejects at once and then again and again, `ms` after it was done, while the tab can be seen. */
export function usePolling(act: () => Promise<unknown>, ms: number): void {
  useEffect(
    () =>
      whileVisible(async (signal) => {
        while (!signal.aborted) {
          await act();
          await sleep(ms, signal).catch(() => {});
        }
      }),
    [act, ms],
  );
}
