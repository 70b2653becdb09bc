import { MediaError, toMediaError } from "../../src/core/errors.ts";
import type { NativeJob, NativeState } from "../../src/encoders/native/native-wire.ts";
import { nativeWork } from "../../src/route/native-cost.ts";
import { sleep, within } from "../../src/util/async.ts";
import { errors } from "./errors.ts";
import { createJobQueue, type WaitingJob } from "./job-queue.ts";
import type { Memory, Share } from "./memory.ts";
import { isShort, type JobHooks, type JobResult } from "./run-job.ts";
import type { Batches } from "./together/batches.ts";

/** What the table of jobs is built with. */
export interface JobsOptions {
  /** Jobs with pictures in motion at once; one more job may run when one of all is an image or sound alone. */
  places: number;
  lease_seconds: number;
  memory: Memory;
  batches: Batches;
  run(job: NativeJob, hooks: JobHooks): Promise<JobResult>;
}

/** The jobs of a server: those that run, and for a while those that ended. */
export interface Jobs {
  /**
   * Starts a job, unless it has it already, as soon as it is its turn; null when there is no place for it within `wait_ms`. One
   * that failed is started again. A `share` of the memory is one that its caller has taken for it, and ends.
   */
  start(job: NativeJob, wait_ms?: number, signal?: AbortSignal, share?: Share): Promise<Started | null>;
  /** Starts what waits for memory that a caller has given back. */
  fill(): void;
  /** Returns the state of a job once it has changed or the time is up; null when there is no such job. */
  ask(id: string, wait_ms: number, signal?: AbortSignal): Promise<NativeState | null>;
  /** Ends a job and forgets it; resolves when nothing is left of it. One that comes only now, within seconds, does not start. */
  remove(id: string): Promise<void>;
  running(): number;
  ending(): boolean;
  /** Accepts no more jobs, lets running ones finish for so long, hands back the rest, and waits a moment for callers to notice. */
  finish(grace_ms: number): Promise<void>;
  /** Ends all jobs at once. */
  end(): Promise<void>;
}

/** A job that was sent: its state, and whether it begins only now. */
export interface Started {
  state: NativeState;
  fresh: boolean;
}

interface Entry {
  lane: string;
  short: boolean;
  state: NativeState;
  abort: AbortController;
  /** Resolves when nothing of it is left. */
  over: Promise<void>;
  /** Waits for a change. */
  changed: PromiseWithResolvers<void>;
  /** When it was last asked after. */
  asked: number;
  /** Requests that wait for a change of it. */
  waiting: number;
  /** True once a client has read its end. */
  told: boolean;
}

// The shortest time between two progress reports.
const TELL_MS = 1000;
// How long a server that has finished waits for the last ends to be asked for; a client asks twice a minute at least.
const LINGER_MS = 40_000;
// How many leases an end is remembered for, in case the client returns after a restart.
const REMEMBERED_LEASES = 5;
const MOST_REMEMBERED = 1000;
// A job may arrive after its own cancellation, which took another connection.
const CALLED_OFF_MS = 10_000;

/** Builds the table of jobs. */
export function createJobs({ places, lease_seconds, memory, batches, run }: JobsOptions): Jobs {
  const entries = new Map<string, Entry>();
  const leaving = new Map<Promise<void>, string>();
  const called_off = new Map<string, number>();
  let ending = false;
  const lease_ms = lease_seconds * 1000;
  const active = () => [...entries.values()].filter(({ state }) => state.state === "running");

  const lookAround = setInterval(
    () => {
      for (const [id, entry] of entries) {
        if (entry.waiting > 0) continue;
        const leases = entry.state.state === "running" ? 1 : REMEMBERED_LEASES;
        if (Date.now() - entry.asked >= lease_ms * leases) void remove(id);
      }
    },
    Math.min(1000, lease_ms / 4),
  );
  lookAround.unref();

  // Images and sound leave the other places to a job that needs one and waits.
  function hasPlace(short: boolean, behind: boolean): boolean {
    const all = active();
    const shorts = all.filter((entry) => entry.short).length;
    // Those that share a run have one place together, up to the end of the last.
    const long = Math.min(places, all.length - shorts);
    if (shorts + long > places) return false;
    return short ? !behind || shorts === 0 : long < places;
  }

  const queue = createJobQueue<WaitingJob & { sent: NativeJob; share: Share | undefined }, Started>({
    running: (lane) => active().filter((entry) => entry.lane === lane).length,
    take({ sent, short, lane, share: taken }, behind) {
      const known = entries.get(sent.id);
      if (known && known.state.state !== "failed") return { state: tell(known), fresh: false };
      if (ending || !(batches.awaits(sent) || hasPlace(short, behind))) return null;
      const share = taken ?? memory.take(nativeWork(sent.plan, sent.source).memory);
      if (!share) return null;
      const entry = begin(sent, { lane, short }, share);
      entries.delete(sent.id);
      entries.set(sent.id, entry);
      forgetOldest(entries);
      return { state: entry.state, fresh: true };
    },
  });

  function begin(job: NativeJob, kind: Pick<Entry, "lane" | "short">, share: Share): Entry {
    const abort = new AbortController();
    const entry: Entry = {
      ...{ ...kind, abort, over: Promise.resolve(), changed: Promise.withResolvers() },
      ...{ state: { state: "running", share: 0, speed: null }, asked: Date.now(), waiting: 0, told: false },
    };
    const change = (state: NativeState) => {
      entry.state = state;
      entry.changed.resolve();
      entry.changed = Promise.withResolvers();
      if (state.state !== "running") queue.fill();
    };
    let told = 0;
    const onProgress = (share: number, speed: number | null) => {
      const { state } = entry;
      if (state.state !== "running" || share <= state.share) return;
      const next: NativeState = { state: "running", share: Math.min(1, share), speed: speed ?? state.speed };
      if (Date.now() - told < TELL_MS) {
        entry.state = next;
        return;
      }
      told = Date.now();
      change(next);
    };
    entry.over = run(job, { signal: abort.signal, onProgress, fits: share.fits, batch: batches.enter(job) })
      .finally(share.end)
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
      // It is no longer visible, though removing it may take a moment.
      entries.delete(id);
      entry.abort.abort(errors.jobEnded());
      const { over } = entry;
      leaving.set(over, id);
      void over.then(() => leaving.delete(over));
    } else {
      for (const [other, until] of called_off) if (until < Date.now()) called_off.delete(other);
      called_off.set(id, Date.now() + CALLED_OFF_MS);
    }
    await Promise.all([...leaving].filter(([, other]) => other === id).map(([over]) => over));
  }

  function tell(entry: Entry): NativeState {
    entry.asked = Date.now();
    if (entry.state.state !== "running") entry.told = true;
    return entry.state;
  }

  return {
    async start(job, wait_ms = 0, signal, share) {
      if ((called_off.get(job.id) ?? 0) > Date.now() && !entries.has(job.id)) {
        return { state: { state: "failed", error: stateError(errors.jobCancelled()) }, fresh: false };
      }
      const waiting = { id: job.id, lane: job.lane ?? "", short: isShort(job), sent: job, share };
      return queue.wait(waiting, ending ? 0 : wait_ms, signal);
    },
    async ask(id, wait_ms, signal) {
      const entry = entries.get(id);
      if (!entry) return null;
      if (entry.state.state === "running" && wait_ms > 0) {
        entry.waiting++;
        await changeWithin(entry.changed.promise, wait_ms, signal);
        entry.waiting--;
      }
      return entries.get(id) === entry ? tell(entry) : null;
    },
    fill: queue.fill,
    remove,
    running: () => active().length,
    ending: () => ending,
    async finish(grace_ms) {
      ending = true;
      queue.end();
      const all = Promise.all(active().map(({ over }) => over));
      await within(all, grace_ms, () => {});
      const lost = errors.shuttingDown();
      for (const { abort } of active()) abort.abort(lost);
      await Promise.all([...entries.values()].map(({ over }) => over));
      const untold = () => [...entries.values()].some(({ told }) => !told);
      for (const until = Date.now() + LINGER_MS; untold() && Date.now() < until; ) {
        await sleep(50);
      }
    },
    async end() {
      ending = true;
      queue.end();
      clearInterval(lookAround);
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
    if (entries.size <= MOST_REMEMBERED) return;
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
