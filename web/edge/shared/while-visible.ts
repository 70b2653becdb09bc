import { useEffect } from "preact/hooks";
import { sleep } from "../../../src/util/async.ts";

/**
 * Runs something while the tab is visible: aborts its signal when the tab is hidden, and starts it again when the tab is
 * shown. Returns a function that stops it.
 */
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

/** Calls a function that never rejects at once, and again `ms` after each call has finished, while the tab is visible. */
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
