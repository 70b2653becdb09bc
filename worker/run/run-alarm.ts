import { logFault, nameRun } from "../observability/log.ts";
import { pauseAfter } from "./schedule.ts";

/** The alarm of a Durable Object, as its storage has it. */
interface AlarmStorage {
  setAlarm(at: number): Promise<void>;
}

/**
 * Manages the one alarm that a run's Durable Object has. `name` is the run's id, for the log; `arm` sets the alarm to what is due
 * next, after some milliseconds at the earliest.
 */
export function createRunAlarm(
  storage: AlarmStorage,
  name: string | undefined,
  arm: (pause: number) => Promise<void>,
) {
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

    /**
     * Runs every duty, even after one has failed, and arms the alarm. The platform gives up an alarm that fails for two minutes, as by
     * a wrong setting; this one is set again.
     */
    async run(duties: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
      let failed = false;
      for (const [work, duty] of Object.entries(duties)) {
        try {
          await duty();
        } catch (thrown) {
          failed = true;
          logFault("alarm failed", thrown, { ...nameRun(name), work });
        }
      }
      const again = failures + 1;
      try {
        await arm(failed ? pauseAfter(again) : 0);
        failures = failed ? again : 0;
      } catch (thrown) {
        failures = again;
        logFault("alarm failed", thrown, { ...nameRun(name), work: "arm" });
        due = null;
        await this.set(Date.now() + pauseAfter(failures));
      }
    },
  };
}
