/** A job that waits for a slot. */
export interface WaitingJob {
  id: string;
  /** Jobs of different lanes take turns, however many there are of each. */
  lane: string;
  /** Whether it may use the slot that is reserved for images and sound. */
  short: boolean;
}

/** The queue for the slots of a machine: lanes take turns, and within a lane the oldest job comes first. */
export interface JobQueue<J extends WaitingJob, R> {
  /** Waits up to `ms` milliseconds for a slot, and returns what `take` returned; null on timeout, abort or `end`. */
  wait(job: J, ms: number, signal?: AbortSignal): Promise<R | null>;
  /** Fills free slots. */
  fill(): void;
  /** Ends the wait of one job, or of all. */
  end(id?: string): void;
}

/** How the queue sees its machine. */
export interface JobQueueOptions<J extends WaitingJob, R> {
  /** Starts a job; null when it has no slot. `overtakes` is true when a longer job is already blocked. */
  take(job: J, overtakes: boolean): R | null;
  /** Running jobs of a lane. */
  running(lane: string): number;
}

interface Waiter<J, R> {
  job: J;
  arrival: number;
  done(result: R | null): void;
}

// How long a job keeps its position between two requests of its client.
const POSITION_MS = 5000;

/** Creates the queue of a machine. */
export function createJobQueue<J extends WaitingJob, R>(options: JobQueueOptions<J, R>): JobQueue<J, R> {
  const { take, running } = options;
  const waiters = new Set<Waiter<J, R>>();
  const arrivals = new Map<string, { arrival: number; until: number }>();
  // When each lane was last served; a new lane comes first.
  const served = new Map<string, number>();
  let clock = 0;

  const before = (a: Waiter<J, R>, b: Waiter<J, R>) =>
    running(a.job.lane) - running(b.job.lane) ||
    (served.get(a.job.lane) ?? 0) - (served.get(b.job.lane) ?? 0) ||
    a.arrival - b.arrival;

  function fillOne(): boolean {
    // A job that does not fit blocks those behind it, or it would starve. Images and sound may overtake it.
    let blocked = false;
    for (const waiter of [...waiters].toSorted(before)) {
      if (blocked && !waiter.job.short) continue;
      const result = take(waiter.job, blocked);
      if (result === null) {
        if (waiter.job.short) return false;
        blocked = true;
        continue;
      }
      served.set(waiter.job.lane, ++clock);
      waiter.done(result);
      return true;
    }
    return false;
  }

  function fill(): void {
    while (fillOne()) {}
    for (const [id, { until }] of arrivals) if (until < Date.now()) arrivals.delete(id);
    const lanes = new Set([...waiters].map(({ job }) => job.lane));
    for (const lane of served.keys()) if (!lanes.has(lane) && running(lane) === 0) served.delete(lane);
  }

  return {
    fill,
    async wait(job, ms, signal) {
      if (signal?.aborted) return null;
      const { promise, resolve } = Promise.withResolvers<R | null>();
      const arrival = arrivals.get(job.id)?.arrival ?? ++clock;
      const waiter: Waiter<J, R> = {
        ...{ job, arrival },
        done(result) {
          waiters.delete(waiter);
          resolve(result);
        },
      };
      waiters.add(waiter);
      const stop = () => waiter.done(null);
      const timer = ms > 0 ? setTimeout(stop, ms) : undefined;
      signal?.addEventListener("abort", stop, { once: true });
      fill();
      if (ms === 0) stop();
      const result = await promise;
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      arrivals.delete(job.id);
      if (result === null && ms > 0) arrivals.set(job.id, { arrival, until: Date.now() + POSITION_MS });
      return result;
    },
    end(id) {
      for (const waiter of waiters) if (id === undefined || waiter.job.id === id) waiter.done(null);
    },
  };
}
