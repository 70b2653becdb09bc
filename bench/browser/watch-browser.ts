import { setTimeout } from "node:timers/promises";
import { ownMemoryMb, processorSeconds, roleOf } from "./processes.ts";

/** What a browser took for a piece of work. */
export interface Effort {
  /** The most memory that all of its processes had for themselves, in MB. */
  memory: number;
  /** The same of the page's process alone, with all of its workers. */
  page: number;
  /** What all of them had before the work began, in MB. */
  before: number;
  /** Seconds of processor time of all of them. */
  cpu: number;
}

const EVERY_MS = 100;
// To find the processes takes longer than to look at them.
const FIND_EVERY = 10;
// A browser that has just been started still sets up its own windows; the sum of this many looks must not rise by more than so many MB.
const REST = { looks: 10, mb: 1 } as const;

/** Waits until a browser with nothing to do takes no more memory than a second before. */
export async function untilAtRest(processes: () => number[]): Promise<void> {
  const sums: number[] = [];
  for (;;) {
    sums.push(processes().reduce((sum, pid) => sum + ownMemoryMb(pid), 0));
    const [earlier] = sums.slice(-REST.looks);
    if (sums.length >= REST.looks && (sums.at(-1) ?? 0) - (earlier ?? 0) <= REST.mb) return;
    await setTimeout(EVERY_MS);
  }
}

/** Looks at the processes of a browser while work is done. */
export async function watchBrowser<T>(
  processes: () => number[],
  work: () => Promise<T>,
): Promise<{ result: T; effort: Effort }> {
  let pids = processes();
  const spent = () => pids.reduce((sum, pid) => sum + processorSeconds(pid), 0);
  const sums = () => {
    const each = pids.map((pid) => ({ page: roleOf(pid) === "renderer", mb: ownMemoryMb(pid) }));
    const pages = each.filter(({ page }) => page).map(({ mb }) => mb);
    return { all: each.reduce((sum, { mb }) => sum + mb, 0), page: Math.max(0, ...pages) };
  };
  const { all: before } = sums();
  const effort = { before, memory: before, page: 0, cpu: -spent() };
  let looks = 0;
  const timer = setInterval(() => {
    looks++;
    if (looks % FIND_EVERY === 0) pids = processes();
    const { all, page } = sums();
    effort.memory = Math.max(effort.memory, all);
    effort.page = Math.max(effort.page, page);
  }, EVERY_MS);
  try {
    const result = await work();
    effort.cpu += spent();
    return { result, effort };
  } finally {
    clearInterval(timer);
  }
}
