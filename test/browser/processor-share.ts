import { readdirSync, readFileSync } from "node:fs";
import type { Lab } from "./lab.ts";

/** The browser's share of the processors while other processes compete for them. */
export interface ProcessorShare {
  /** Share of the time between two moments (seconds since the epoch) in which runnable threads actually ran; 1 if unknown. */
  between(from: number, to: number): number;
  stop(): void;
}

const EVERY_MS = 250;

/** Samples the scheduler's statistics of all browser processes of a lab; without /proc the share is unknown. */
export async function watchShare({ context }: Lab): Promise<ProcessorShare> {
  const browser = context.browser();
  if (!browser) throw new Error("The browser is not there.");
  const devtools = await browser.newBrowserCDPSession();
  const { processInfo } = await devtools.send("SystemInfo.getProcessInfo");
  await devtools.detach();
  // Threads that have ended keep their last figures.
  const threads = new Map<string, { ran: number; waited: number }>();
  const moments: { at: number; ran: number; waited: number }[] = [];

  function look() {
    for (const { id } of processInfo) {
      for (const thread of list(`/proc/${id}/task`)) {
        const [ran = 0, waited = 0] = read(`/proc/${id}/task/${thread}/schedstat`).split(" ").map(Number);
        if (ran > 0) threads.set(thread, { ran, waited });
      }
    }
    const sum = (name: "ran" | "waited") => [...threads.values()].reduce((all, each) => all + each[name], 0);
    moments.push({ at: Date.now() / 1000, ran: sum("ran"), waited: sum("waited") });
  }

  look();
  const timer = setInterval(look, EVERY_MS);
  return {
    between(from, to) {
      const [first, last] = [
        moments.findLast(({ at }) => at <= from) ?? moments[0],
        moments.findLast(({ at }) => at <= to),
      ];
      const ran = (last?.ran ?? 0) - (first?.ran ?? 0);
      const waited = (last?.waited ?? 0) - (first?.waited ?? 0);
      return ran > 0 ? ran / (ran + waited) : 1;
    },
    stop() {
      clearInterval(timer);
      look();
    },
  };
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

// The thread may have ended.
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
