import type { NativeJob, NativeState } from "../../src/encoders/native/native-wire.ts";
import { MediaError, toMediaError } from "../../src/media/errors.ts";
import { nativeWork } from "../../src/media/native-costs.ts";
import { sleep, within } from "../../src/util/async.ts";
import type { Batches } from "./batches.ts";
import * as errors from "./errors.ts";
import { isShort, type JobHooks, type JobResult } from "./run-job.ts";

/** Options of {@link createJobs}. */
export interface JobsOptions {
  /** Jobs with moving pictures that run at once. One more job may run when any of them is an image or only sound. */
  slots: number;
  lease_seconds: number;
  memory: Memory;
  batches: Batches;
  run(job: NativeJob, hooks: JobHooks): Promise<JobResult>;
}

/** The jobs of a server, including recently ended ones. */
export interface Jobs {
  /**
   * Starts a new job in its turn; restarts one that failed. Returns null when it gets no slot within `waitMs`.
   * `memory` is a reservation that the caller has made for it, and releases.
   */
  start(job: NativeJob, waitMs?: number, signal?: AbortSignal, memory?: Reservation): Promise<Started | null>;
  /** Starts jobs that waited for memory which a caller has released. */
  fill(): void;
  /** Returns the state of a job when it changes, or after `waitMs`; null when there is no such job. */
  poll(id: string, waitMs: number, signal?: AbortSignal): Promise<NativeState | null>;
  /** Ends a job and forgets it; resolves when its processes and files are gone. A job that arrives within seconds of its removal does not start. */
  remove(id: string): Promise<void>;
  running(): number;
  ending(): boolean;
  /** Accepts no more jobs, gives running ones `graceMs` to finish, hands back the rest, and waits a while for clients to read the results. */
  finish(graceMs: number): Promise<void>;
  /** Ends all jobs at once. */
  end(): Promise<void>;
}

/** The response to the start of a job. */
export interface Started {
  state: NativeState;
  /** Whether this request started it. */
  fresh: boolean;
}

interface Entry {
  lane: string;
  short: boolean;
  state: NativeState;
  abort: AbortController;
  /** Resolves when its processes and files are gone. */
  over: Promise<void>;
  /** Resolves on the next change. */
  changed: PromiseWithResolvers<void>;
  /** Time of the last request for the job by a client, in milliseconds. */
  polledAt: number;
  /** Requests that wait for a change. */
  pollers: number;
  /** Whether a client has read its final state. */
  delivered: boolean;
}

const REPORT_MS = 1000;
const LINGER_MS = 40_000;
const RESULT_LEASES = 5;
const MAX_RESULTS = 1000;
// A job may arrive after its own cancellation, which uses another connection.
const CANCELLED_MS = 10_000;

/** Creates the table of jobs. */
export function createJobs({ slots, lease_seconds, memory, batches, run }: JobsOptions): Jobs {
  const entries = new Map<string, Entry>();
  const leaving = new Map<Promise<void>, string>();
  const cancelled = new Map<string, number>();
  let ending = false;
  const leaseMs = lease_seconds * 1000;
  const active = () => [...entries.values()].filter(({ state }) => state.state === "running");

  const expiry = setInterval(
    () => {
      for (const [id, entry] of entries) {
        if (entry.pollers > 0) continue;
        const leases = entry.state.state === "running" ? 1 : RESULT_LEASES;
        if (Date.now() - entry.polledAt >= leaseMs * leases) void remove(id);
      }
    },
    Math.min(1000, leaseMs / 4),
  );
  expiry.unref();

  function hasSlot(short: boolean, overtakes: boolean): boolean {
    const all = active();
    const shorts = all.filter((entry) => entry.short).length;
    // Jobs batched into one ffmpeg occupy one slot until the last finishes.
    const long = Math.min(slots, all.length - shorts);
    if (shorts + long > slots) return false;
    return short ? !overtakes || shorts === 0 : long < slots;
  }

  const queue = createJobQueue<WaitingJob & { job: NativeJob; reserved: Reservation | undefined }, Started>({
    running: (lane) => active().filter((entry) => entry.lane === lane).length,
    take({ job, short, lane, reserved }, overtakes) {
      const previous = entries.get(job.id);
      if (previous && previous.state.state !== "failed") return { state: deliver(previous), fresh: false };
      if (ending || !(batches.awaits(job) || hasSlot(short, overtakes))) return null;
      const reservation = reserved ?? memory.reserve(nativeWork(job.plan, job.source).memory);
      if (!reservation) return null;
      const entry = begin(job, { lane, short }, reservation, { run, batches, onEnd: () => queue.fill() });
      entries.delete(job.id);
      entries.set(job.id, entry);
      forgetOldest(entries);
      return { state: entry.state, fresh: true };
    },
  });

  async function remove(id: string): Promise<void> {
    queue.end(id);
    const entry = entries.get(id);
    if (entry) {
      entries.delete(id);
      entry.abort.abort(errors.jobEnded());
      const { over } = entry;
      leaving.set(over, id);
      void over.then(() => leaving.delete(over));
    } else {
      for (const [other, until] of cancelled) if (until < Date.now()) cancelled.delete(other);
      cancelled.set(id, Date.now() + CANCELLED_MS);
    }
    await Promise.all([...leaving].filter(([, other]) => other === id).map(([over]) => over));
  }

  function deliver(entry: Entry): NativeState {
    entry.polledAt = Date.now();
    if (entry.state.state !== "running") entry.delivered = true;
    return entry.state;
  }

  return {
    async start(job, waitMs = 0, signal, reserved) {
      if ((cancelled.get(job.id) ?? 0) > Date.now() && !entries.has(job.id)) {
        return { state: { state: "failed", error: stateError(errors.jobCancelled()) }, fresh: false };
      }
      const waiting = { id: job.id, lane: job.lane ?? "", short: isShort(job), job, reserved };
      return queue.wait(waiting, ending ? 0 : waitMs, signal);
    },
    async poll(id, waitMs, signal) {
      const entry = entries.get(id);
      if (!entry) return null;
      if (entry.state.state === "running" && waitMs > 0) {
        entry.pollers++;
        await changeWithin(entry.changed.promise, waitMs, signal);
        entry.pollers--;
      }
      return entries.get(id) === entry ? deliver(entry) : null;
    },
    fill: queue.fill,
    remove,
    running: () => active().length,
    ending: () => ending,
    async finish(graceMs) {
      ending = true;
      queue.end();
      const all = Promise.all(active().map(({ over }) => over));
      await within(all, graceMs, () => {});
      const shutdown = errors.shuttingDown();
      for (const { abort } of active()) abort.abort(shutdown);
      await Promise.all([...entries.values()].map(({ over }) => over));
      const hasUndelivered = () => [...entries.values()].some(({ delivered }) => !delivered);
      for (const until = Date.now() + LINGER_MS; hasUndelivered() && Date.now() < until; ) {
        await sleep(50);
      }
    },
    async end() {
      ending = true;
      queue.end();
      clearInterval(expiry);
      await Promise.all([...entries.keys(), ...leaving.values()].map(remove));
    },
  };
}

/** Begins a job, and follows it to its end. */
function begin(
  job: NativeJob,
  kind: Pick<Entry, "lane" | "short">,
  { fits, release }: Reservation,
  { run, batches, onEnd }: Pick<JobsOptions, "run" | "batches"> & { onEnd(): void },
): Entry {
  const abort = new AbortController();
  const entry: Entry = {
    ...kind,
    state: { state: "running", share: 0, speed: null },
    abort,
    over: Promise.resolve(),
    changed: Promise.withResolvers(),
    polledAt: Date.now(),
    pollers: 0,
    delivered: false,
  };
  const change = (state: NativeState) => {
    entry.state = state;
    entry.changed.resolve();
    entry.changed = Promise.withResolvers();
    if (state.state !== "running") onEnd();
  };
  let reportedAt = 0;
  const onProgress = (share: number, speed: number | null) => {
    const { state } = entry;
    if (state.state !== "running" || share <= state.share) return;
    const next: NativeState = { state: "running", share: Math.min(1, share), speed: speed ?? state.speed };
    if (Date.now() - reportedAt < REPORT_MS) {
      entry.state = next;
      return;
    }
    reportedAt = Date.now();
    change(next);
  };
  entry.over = run(job, { signal: abort.signal, onProgress, fits, batch: batches.enter(job) })
    .finally(release)
    .then(
      (result) => change({ state: "done", ...result }),
      (thrown: unknown) => change({ state: "failed", error: errorOf(abort.signal, thrown) }),
    );
  return entry;
}

type StateError = Extract<NativeState, { state: "failed" }>["error"];

function errorOf(signal: AbortSignal, thrown: unknown): StateError {
  if (!(thrown instanceof MediaError) && !signal.aborted) {
    const error = thrown instanceof Error ? thrown.stack : String(thrown);
    console.error(JSON.stringify({ level: "error", message: "job failed", error }));
  }
  return stateError(toMediaError(signal.aborted ? signal.reason : thrown, "encode_failed"));
}

function stateError({ kind, message, retryable, reason }: MediaError): StateError {
  return { kind, message, retryable, ...(reason && { reason }) };
}

function forgetOldest(entries: Map<string, Entry>): void {
  for (const [id, { state }] of entries) {
    if (entries.size <= MAX_RESULTS) return;
    if (state.state !== "running") entries.delete(id);
  }
}

async function changeWithin(change: Promise<void>, ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  signal?.addEventListener("abort", stop, { once: true });
  await within(Promise.race([change, promise]), ms, () => {});
  signal?.removeEventListener("abort", stop);
}

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

const POSITION_MS = 5000;

/** Creates the queue of a machine. */
export function createJobQueue<J extends WaitingJob, R>(options: JobQueueOptions<J, R>): JobQueue<J, R> {
  const { take, running } = options;
  const waiters = new Set<Waiter<J, R>>();
  const arrivals = new Map<string, { arrival: number; until: number }>();
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
    const waiting = new Set([...waiters].map(({ job }) => job.lane));
    for (const lane of served.keys()) if (!waiting.has(lane) && running(lane) === 0) served.delete(lane);
  }

  return {
    fill,
    async wait(job, ms, signal) {
      if (signal?.aborted) return null;
      const { promise, resolve } = Promise.withResolvers<R | null>();
      const arrival = arrivals.get(job.id)?.arrival ?? ++clock;
      const waiter: Waiter<J, R> = {
        job,
        arrival,
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

/** The memory of a machine, which its jobs share. */
export interface Memory {
  /** Reserves the estimated bytes of a job; null when they do not fit beside the others. A single job always fits. */
  reserve(bytes: number): Reservation | null;
}

/** The memory of one job. */
export interface Reservation {
  /** Records the bytes that the job uses, and returns whether all jobs still fit, each counted with the larger of its estimate and its use. */
  fits(bytes: number): boolean;
  release(): void;
}

/** Creates the memory of a machine, of `total` bytes. */
export function createMemory(total: number): Memory {
  const reservations = new Set<{ estimate: number; used: number }>();
  const sum = () =>
    [...reservations].reduce((all, { estimate, used: usage }) => all + Math.max(estimate, usage), 0);
  return {
    reserve(bytes) {
      if (reservations.size > 0 && sum() + bytes > total) return null;
      const reservation = { estimate: Math.min(bytes, total), used: 0 };
      reservations.add(reservation);
      return {
        fits(usage) {
          reservation.used = usage;
          return usage <= reservation.estimate || sum() <= total;
        },
        release: () => reservations.delete(reservation),
      };
    },
  };
}
