import type { NativeJob, NativeState } from "../../src/encoders/native/native-wire.ts";
import { MediaError, toMediaError } from "../../src/media/errors.ts";
import { nativeWork } from "../../src/media/route/costs.ts";
import { sleep, within } from "../../src/util/async.ts";
import { errors } from "./errors.ts";
import { createJobQueue, type WaitingJob } from "./job-queue.ts";
import type { Memory, Reservation } from "./memory.ts";
import { isShort, type JobHooks, type JobResult } from "./run-job.ts";
import type { Batches } from "./together/batches.ts";

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
   * Starts a job in its turn, unless it is known already; restarts one that failed. Returns null when it gets no slot within `waitMs`.
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
  /** When a client last asked for it, in milliseconds. */
  polledAt: number;
  /** Requests that wait for a change. */
  pollers: number;
  /** Whether a client has read its final state. */
  delivered: boolean;
}

// The shortest time between two progress reports.
const REPORT_MS = 1000;
// How long a server that shuts down waits for clients to read the results; they poll at least twice a minute.
const LINGER_MS = 40_000;
// A result is kept for this many leases, in case its client restarts.
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

  // Images and sound take no second slot while a longer job waits.
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
      const entry = begin(job, { lane, short }, reservation);
      entries.delete(job.id);
      entries.set(job.id, entry);
      forgetOldest(entries);
      return { state: entry.state, fresh: true };
    },
  });

  function begin(job: NativeJob, kind: Pick<Entry, "lane" | "short">, { fits, release }: Reservation): Entry {
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
      if (state.state !== "running") queue.fill();
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

  async function remove(id: string): Promise<void> {
    queue.end(id);
    const entry = entries.get(id);
    if (entry) {
      // Clients no longer see it, though its removal may take a moment.
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
      const lost = errors.shuttingDown();
      for (const { abort } of active()) abort.abort(lost);
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

type StateError = Extract<NativeState, { state: "failed" }>["error"];

// Reports the abort reason, not the error it caused.
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
