import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import type { RemoteClient } from "../../src/client/index.ts";
import { type ErrorReason, MediaError } from "../../src/index.ts";
import { sleep } from "../../src/util/async.ts";
import * as strings from "./strings.ts";

export interface ServiceFault {
  readonly kind: string;
  readonly message: string;
  readonly param: string | undefined;
  readonly reason?: ErrorReason | undefined;
}

export interface Service {
  readonly base_url: string;
  readonly client: RemoteClient;
  /** Converts an error to words. When the service no longer accepts the key, the console also returns to the connect form. */
  explain(thrown: unknown): ServiceFault;
}

export const ServiceContext = createContext<Service | null>(null);

export function useService(): Service {
  const service = useContext(ServiceContext);
  if (!service) throw new Error("There is no ServiceContext around this component.");
  return service;
}

/** Converts an error to words; an error other than a MediaError gets a general text. */
export function toFault(thrown: unknown): ServiceFault {
  if (thrown instanceof MediaError) {
    const { kind, message, param, reason } = thrown;
    return { kind, message, param, reason };
  }
  return {
    kind: "internal_error",
    message: strings.pageFailed,
    param: undefined,
  };
}

/**
 * Runs something while the tab is visible: aborts its signal when the tab is hidden, and starts it again when the tab is
 * shown. Returns a function that stops it.
 */
export function whileVisible(run: (signal: AbortSignal) => void): () => void {
  let running: AbortController | null = null;
  const update = () => {
    running?.abort();
    running = document.visibilityState === "visible" ? new AbortController() : null;
    if (running) run(running.signal);
  };
  document.addEventListener("visibilitychange", update);
  update();
  return () => {
    document.removeEventListener("visibilitychange", update);
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
