import type { EncodeRequest } from "../core/options.ts";
import type { StepContext } from "../core/ports.ts";
import type { Source } from "../core/source.ts";

/** The input that a run shares with the others of its job. */
export interface SharedInput {
  /** Id of the job, in whose folder the input is. */
  id: string;
  /**
   * Works on the input while no other run does, with what the others have probed of it, if any; calls `onWait` from time to time
   * while it waits for its turn.
   */
  alone<T>(
    work: (known: Source | null) => Promise<T>,
    signal: AbortSignal,
    onWait: () => Promise<void>,
  ): Promise<T>;
  /** Returns what the other runs of the job make of it; absent where they do not wait for one encoder. */
  beside?(): Promise<readonly EncodeRequest[]>;
  /** Keeps the probed input for the other runs. */
  keep(source: Source): Promise<void>;
}

/** Works durably on a run's input. Runs that share one take turns, and each receives what the others have found out. */
export function alone<T>(
  shared: SharedInput | null,
  name: string,
  context: StepContext,
  work: (signal: AbortSignal, known: Source | null) => Promise<T>,
): Promise<T> {
  return context.durably(name, (signal) => {
    if (!shared) return work(signal, null);
    const onWait = () => context.progress(null);
    return shared.alone((known) => work(signal, known), signal, onWait);
  });
}
