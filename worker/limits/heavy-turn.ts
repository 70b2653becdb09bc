import { RunOver } from "../../src/runs/pipeline.ts";
import { WAKE } from "../instance.ts";
import { patiently } from "../network/retry-object-call.ts";

// The TaskObject wakes a waiting run; this bounds the wait in case it never does.
const TIMEOUT = "7 days";

type Answer = "granted" | "waits" | "over";

/** What waiting takes of a Workflow's step. */
export interface TurnStep {
  do(name: string, ask: () => Promise<Answer>): Promise<Answer>;
  waitForEvent(name: string, event: { type: string; timeout: typeof TIMEOUT }): Promise<unknown>;
}

/**
 * Returns a function that waits until the run may do heavy work, and rejects with {@link RunOver} when the run is over. A waiting
 * run sleeps: it makes no calls and keeps no object awake, so thousands can wait at once.
 */
export function createHeavyTurn(
  step: TurnStep,
  object: () => { askHeavy(): Promise<Answer> },
): () => Promise<void> {
  return async () => {
    for (;;) {
      const granted = await step.do("turn", () => patiently(() => object().askHeavy()));
      if (granted === "over") throw new RunOver();
      if (granted === "granted") return;
      // Events are kept until they are waited for, so one that comes in between is not lost. After the time-out the run asks again.
      await step.waitForEvent("turn", { type: WAKE, timeout: TIMEOUT }).catch(() => {});
    }
  };
}
