import type { CoreImports } from "./core-module.ts";

// A question takes one or two milliseconds, and a look at the clock as long as many a call.
const EVERY_MS = 100;
const EVERY_CALLS = 8;

/** What lets a core's run end soon after its worker is not wanted any more. */
export interface WorkerLife {
  /** Makes the imports throw from then on: a busy worker hears no message, and Chromium lets one that is ended go on for 2 seconds. */
  guard(imports: CoreImports): void;
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
    if (!wanted) throw new Error("The worker is not wanted any more.");
  }

  return {
    guard(imports) {
      if (!allowed) return;
      // ffmpeg asks for the time, reads, writes and copies many times in each picture.
      for (const group of Object.values(imports)) {
        for (const [name, call] of Object.entries(group)) {
          if (typeof call !== "function") continue;
          group[name] = (...args) => {
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
