/** A job that waits for a place. */
export interface WaitingJob {
  id: string;
  /** Jobs of one lane wait for each other before those of another lane wait for them. */
  lane: string;
  /** Whether it may use the place that is kept for images and sound. */
  short: boolean;
}

/** Those that wait for a place on a machine: lanes take turns, and within a lane the oldest job comes first. */
export interface JobQueue<J extends WaitingJob, R> {
  /** Waits up to `ms` for a place and returns what `take` returned; null when the time is up or the wait is over. */
  wait(job: J, ms: number, signal?: AbortSignal): Promise<R | null>;
  /** Fills the places that are free. */
  fill(): void;
  /** Ends the wait of one job, or of all. */
  end(id?: string): void;
}

/** What the queue needs to know of the machine. */
export interface JobQueueOptions<J extends WaitingJob, R> {
  /** Starts a job; null when there is no place for it. `behind` is true when a job that needs more waits already. */
  take(job: J, behind: boolean): R | null;
  /** Running jobs of a lane. */
  running(lane: string): number;
}

interface Waiter<J, R> {
  job: J;
  arrival: number;
  done(result: R | null): void;
}

// Between two requests of a client its job keeps its arrival.
const KEPT_MS = 5000;

/** Creates the queue of a machine. */
export function createJobQueue<J extends WaitingJob, R>(options: JobQueueOptions<J, R>): JobQueue<J, R> {
  const { take, running } = options;
  const waiters = new Set<Waiter<J, R>>();
  const arrivals = new Map<string, { arrival: number; until: number }>();
  // When each lane was last served; a lane that is new comes first.
  const served = new Map<string, number>();
  let clock = 0;

  const before = (a: Waiter<J, R>, b: Waiter<J, R>) =>
    running(a.job.lane) - running(b.job.lane) ||
    (served.get(a.job.lane) ?? 0) - (served.get(b.job.lane) ?? 0) ||
    a.arrival - b.arrival;

  function fillOne(): boolean {
    // One that does not fit holds up those behind it, as it would starve otherwise, but for images and sound.
    let held = false;
    for (const waiter of [...waiters].toSorted(before)) {
      if (held && !waiter.job.short) continue;
      const result = take(waiter.job, held);
      if (result === null) {
        if (waiter.job.short) return false;
        held = true;
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
      if (result === null && ms > 0) arrivals.set(job.id, { arrival, until: Date.now() + KEPT_MS });
      return result;
    },
    end(id) {
      for (const waiter of waiters) if (id === undefined || waiter.job.id === id) waiter.done(null);
    },
  };
}
