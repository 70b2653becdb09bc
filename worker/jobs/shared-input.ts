import type { SharedInput } from "../../src/runs/steps/inputs.ts";
import type { Task } from "../../src/runs/task.ts";
import type { Env } from "../env.ts";
import { patiently } from "../network/retry-object-call.ts";

// How long to wait for the input before the run shows that it is alive, and how often to show that it is still at it.
const WAIT_MS = 5000;
const BEAT_MS = 8000;

/** Returns the input that a task shares with the others of its job; null where it has its own. */
export function createSharedInput(env: Env, { id, job }: Task): SharedInput | null {
  if (!job || job.after !== undefined) return null;
  const object = () => env.JOB.getByName(job.id);
  const lead = (ms: number) => object().lead.take(id, ms);
  return {
    id: job.id,
    async alone(work, signal, onWait) {
      while (!(await patiently(() => lead(WAIT_MS)))) {
        signal.throwIfAborted();
        await onWait();
      }
      const beat = setInterval(() => void lead(0).catch(() => {}), BEAT_MS);
      try {
        return await work(await patiently(() => object().known.get()));
      } finally {
        clearInterval(beat);
        await object()
          .lead.leave(id)
          .catch(() => {});
      }
    },
    beside: () => patiently(() => object().known.beside(id)),
    keep: (source) => patiently(() => object().known.keep(source)),
  };
}
