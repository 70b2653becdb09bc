import { useEffect, useRef, useState } from "preact/hooks";
import type { Fault } from "../queue/item.ts";
import { saveFault, type Watch } from "./save/write-file.ts";
import { faultOf } from "./use-output.ts";

/** Something that takes a while, begun by a click: how far it is, what came of it, and what begins and stops it. */
export interface Doing {
  /** Null while nothing is done; its share is 0 to 1, null where it cannot be measured. */
  readonly progress: { readonly share: number | null; readonly bytes: number } | null;
  readonly fault: Fault | null;
  /** What there is to say at the end; null before that. */
  readonly said: string | null;
  /** Begins; what it resolves with is said. */
  begin(work: (watch: Watch) => Promise<string | null>): void;
  stop(): void;
}

/** Gives a component a {@link Doing}, which ends with it, or goes on in silence where it `outlives` it, as a download does when another view is opened. */
export function useDoing({ outlives = false }: { outlives?: boolean } = {}): Doing {
  const [state, setState] = useState<Pick<Doing, "progress" | "fault" | "said">>(IDLE);
  const over = useRef<AbortController | null>(null);
  useEffect(
    () => () => {
      if (!outlives) over.current?.abort();
    },
    [outlives],
  );
  return {
    ...state,
    begin(work) {
      over.current?.abort();
      const mine = new AbortController();
      over.current = mine;
      const { signal } = mine;
      const set = (next: Partial<typeof state>) => {
        if (over.current === mine) setState({ ...IDLE, ...next });
      };
      set({ progress: { share: null, bytes: 0 } });
      let told = 0;
      const onProgress = (done: number, total: number | null) => {
        // More often than it can be seen it need not be drawn.
        const now = performance.now();
        if (signal.aborted || now - told < 100) return;
        told = now;
        set({ progress: { share: total ? done / total : null, bytes: done } });
      };
      work({ signal, onProgress }).then(
        (said) => set({ said }),
        (thrown: unknown) => set({ fault: signal.aborted ? null : faultOf(saveFault(thrown)) }),
      );
    },
    stop: () => over.current?.abort(),
  };
}

const IDLE = { progress: null, fault: null, said: null } as const;
