import { MediaError } from "../../core/errors.ts";

/** Functions that a wasm imports from its glue, in their groups. */
type Imports = Record<string, Record<string, unknown>>;

// A question takes one or two milliseconds, and a look at the clock as long as many a call.
const EVERY_MS = 100;
const EVERY_CALLS = 8;

/** A worker that is ended together with the wasm that keeps it busy, which Chromium would let go on for 2 seconds. */
export interface LivingWorker {
  worker: Worker;
  /** Ends its wasm at once, and the worker after so many milliseconds; default 0. */
  end(graceMs?: number): void;
}

/** Starts a worker, which is given a URL for {@link followLife}. */
export function startLiving(start: (life: string) => Worker): LivingWorker {
  const life = URL.createObjectURL(new Blob(["wanted"]));
  const worker = start(life);
  return {
    worker,
    end(graceMs = 0) {
      URL.revokeObjectURL(life);
      if (graceMs > 0) setTimeout(() => worker.terminate(), graceMs);
      else worker.terminate();
    },
  };
}

/** What lets wasm in a worker end soon after the worker is not wanted any more. */
export interface WorkerLife {
  /** Makes the imports throw from then on, as a busy worker hears no message. */
  guard(imports: Imports): void;
}

/** Follows `url`, which answers for as long as the worker is wanted; to be called before anything is waited for. */
export function followLife(url: string): WorkerLife {
  // A page may forbid such questions by its policy.
  const own = URL.createObjectURL(new Blob(["allowed"]));
  const allowed = answers(own);
  URL.revokeObjectURL(own);
  let last = Number.NEGATIVE_INFINITY;
  let calls = 0;
  let wanted = true;

  function check(): void {
    if (calls++ % EVERY_CALLS !== 0) return;
    const now = performance.now();
    if (now - last < EVERY_MS) return;
    last = now;
    wanted &&= answers(url);
    if (!wanted) throw new MediaError("worker_lost", "The worker is not wanted any more.");
  }

  return {
    guard(imports) {
      if (!allowed) return;
      // An encoder asks for the time, reads, writes, copies or has a call of C++ caught many times in each picture.
      for (const group of Object.values(imports)) {
        for (const [name, call] of Object.entries(group)) {
          if (typeof call !== "function") continue;
          group[name] = (...args: unknown[]) => {
            check();
            return call(...args);
          };
        }
      }
    },
  };
}

function answers(url: string): boolean {
  try {
    const request = new XMLHttpRequest();
    request.open("GET", url, false);
    request.send();
    return request.status === 200;
  } catch {
    return false;
  }
}
