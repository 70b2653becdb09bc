import { logFault, nameRun } from "../observability/log.ts";
import { pauseAfter } from "./schedule.ts";

/** Creates the one alarm of a run's object; `name` is the run's id. */
export function createRunAlarm(storage: DurableObjectStorage, name: string | undefined) {
  // Where it is known when the alarm is due, it is not set again: that is a write of its own.
  let due: number | null = null;
  let failures = 0;
  return {
    /** Notes that the alarm has gone off. */
    rang() {
      due = null;
    },

    /** Sets the alarm, unless an earlier one will do so. */
    async set(at: number): Promise<void> {
      if (due !== null && due <= at) return;
      due = at;
      await storage.setAlarm(at);
    },

    async clear(): Promise<void> {
      due = null;
      await storage.deleteAlarm();
    },

    /** Does every duty, also when one fails; returns the milliseconds to wait before the next attempt. */
    async attend(duties: Readonly<Record<string, () => Promise<unknown>>>): Promise<number> {
      let failed = false;
      for (const [work, duty] of Object.entries(duties)) {
        try {
          await duty();
        } catch (thrown) {
          failed = true;
          logFault("alarm failed", thrown, { ...nameRun(name), work });
        }
      }
      failures = failed ? failures + 1 : 0;
      return pauseAfter(failures);
    },
  };
}
