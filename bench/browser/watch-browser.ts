import { setTimeout } from "node:timers/promises";
import { ownMemoryMb, processorSeconds, roleOf } from "./processes.ts";

/** The resources that a browser used for some work. */
interface Effort {
  /** Peak of all its processes' own memory, in MB. */
  memory: number;
  /** Memory of the page's process alone, with all of its workers. */
  page: number;
  /** The own memory of all processes before the work began, in MB. */
  before: number;
  /** Processor time of all processes, in seconds. */
  cpu: number;
}

const EVERY_MS = 100;
// Finding the processes takes longer than measuring them.
const FIND_EVERY = 10;
// A newly started browser is still setting up; the sum over this many samples must not rise by more than this number of MB.
const IDLE = { samples: 10, mb: 1 } as const;

/** Waits until an idle browser takes no more memory than a second before. */
export async function untilIdle(processes: () => number[]): Promise<void> {
  const sums: number[] = [];
  for (;;) {
    sums.push(processes().reduce((sum, pid) => sum + ownMemoryMb(pid), 0));
    const [earlier] = sums.slice(-IDLE.samples);
    if (sums.length >= IDLE.samples && (sums.at(-1) ?? 0) - (earlier ?? 0) <= IDLE.mb) return;
    await setTimeout(EVERY_MS);
  }
}

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
  let samples = 0;
  const timer = setInterval(() => {
    samples++;
    if (samples % FIND_EVERY === 0) pids = processes();
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
