import { logFault, nameRun } from "../observability/log.ts";
import { pauseAfter } from "./schedule.ts";

/** The alarm of a Durable Object, as its storage has it. */
interface AlarmStorage {
  setAlarm(at: number): Promise<void>;
}

/** Manages the one alarm that a run's Durable Object has; `name` is the run's id, for the log. */
export function createRunAlarm(storage: AlarmStorage, name: string | undefined) {
  // Remembered, because each setting of an alarm is a write.
  let due: number | null = null;
  let failures = 0;
  return {
    /** Notes that the alarm has gone off, or went with the storage. */
    gone() {
      due = null;
    },

    /** Sets the alarm, unless an earlier one will do so. */
    async set(at: number): Promise<void> {
      if (due !== null && due <= at) return;
      due = at;
      await storage.setAlarm(at);
    },

    /** Runs every duty, even after one has failed; returns the milliseconds to wait before the next attempt. */
    async run(duties: Readonly<Record<string, () => Promise<unknown>>>): Promise<number> {
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
