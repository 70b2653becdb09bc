import { setTimeout as sleep } from "node:timers/promises";
import { MediaError } from "../../src/media/errors.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";

/** A request for a task; the service validates it. */
export interface TaskWish {
  input: string;
  kind: string;
  options: Record<string, unknown>;
}

/** The few calls of the service's API that the demo makes. */
export interface Api {
  /** Creates a task; rejects with the service's {@link MediaError}. */
  create(wish: TaskWish): Promise<Task>;
  cancel(id: string): Promise<Task>;
  /** Resolves to the finished task and reports its progress; an abort cancels it. */
  finish(id: string, report: (task: Task) => void, signal: AbortSignal): Promise<Task>;
}

const POLL_MS = 200;
// A Worker that restarts is back within this time.
const PATIENCE_MS = 30_000;

/** Creates the calls for a service's base URL and an API key. */
export function createApi(url: string, key: string): Api {
  async function call(method: string, path: string, body?: unknown): Promise<Task> {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(url + path, {
      ...{ method, headers, signal },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new MediaError(answer.kind, answer.message, { param: answer.param });
    return answer;
  }
  return {
    create: (wish) => call("POST", "/tasks", wish),
    cancel: (id) => call("POST", `/tasks/${id}/cancel`),
    async finish(id, report, signal) {
      let heard = Date.now();
      for (let cancelled = false; ; await sleep(POLL_MS)) {
        try {
          if (signal.aborted && !cancelled) {
            await call("POST", `/tasks/${id}/cancel`);
            cancelled = true;
          }
          const task = await call("GET", `/tasks/${id}`);
          heard = Date.now();
          report(task);
          if (isFinished(task)) return task;
        } catch (thrown) {
          if (Date.now() - heard > PATIENCE_MS) throw thrown;
        }
      }
    },
  };
}
