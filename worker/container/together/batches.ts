import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { NativeJob } from "../../../src/encoders/native/native-wire.ts";
import { soundStream } from "../../../src/ffmpeg/span.ts";
import { containerOf } from "../../../src/media/containers.ts";
import { needsDecoder } from "../../../src/plan/image/decoded.ts";
import { decodeKey } from "../../../src/plan/together/decode-key.ts";
import type { RunHooks } from "../encode-job.ts";
import { removeFolder, type Scratch } from "../scratch.ts";

/** One job of a batch. */
export interface Member extends RunHooks {
  job: NativeJob;
  /** Its folder, into which its files come. */
  folder: string;
}

/**
 * Runs ffmpeg once for all members, the output and the lists of each in the folder of its number below `home`; rejects when any
 * part of that fails.
 */
export type RunBatch = (members: readonly Member[], home: string, signal: AbortSignal) => Promise<void>;

/** The place of a job in a batch. */
export interface BatchPlace {
  /** Encodes the job with the others, or where that is not possible by `alone`, one job of the batch after another. */
  encode(member: Member, run: RunBatch, alone: () => Promise<void>): Promise<void>;
}

/** Jobs of one group that are encoded by one run, because they read the same pictures. */
export interface Batches {
  /** Whether a batch that has not begun waits for a job like this. */
  awaits(job: NativeJob): boolean;
  /** Takes a place in the batch of a job's group, which waits a moment for the rest of it; null for a job without a group. */
  enter(job: NativeJob): BatchPlace | null;
}

interface Batch {
  /** Those that are ready. */
  members: Member[];
  /** Those that its run is for; none before it begins. */
  running: Member[];
  run: RunBatch | null;
  begin(): void;
  /** Resolves to whether its run went well. */
  end: Promise<boolean>;
  /** Ends its run. */
  abort: AbortController;
  /** Ends with the last job that is encoded alone. */
  line: Promise<unknown>;
}

// How long the first waits for the rest, which are decided upon by runs of their own.
const GATHER_MS = 3000;

/**
 * Creates the batches of a machine. One with several places has none: there, jobs that run side by side end sooner than one run
 * on as many threads as one of them has.
 */
export function createBatches(scratch: Pick<Scratch, "create">, places: number): Batches {
  const gathering = new Map<string, Batch>();
  const keyHere = (job: NativeJob) => (places > 1 ? null : keyOf(job));

  function gather(key: string): Batch {
    const { promise, resolve } = Promise.withResolvers<void>();
    const batch: Batch = {
      ...{ members: [], running: [], run: null, begin: resolve, end: Promise.resolve(false) },
      ...{ abort: new AbortController(), line: Promise.resolve() },
    };
    gathering.set(key, batch);
    const timer = setTimeout(resolve, GATHER_MS);
    batch.end = promise.then(() => {
      clearTimeout(timer);
      gathering.delete(key);
      return runTogether(batch, scratch);
    });
    return batch;
  }

  return {
    awaits(job) {
      const key = keyHere(job);
      return key !== null && gathering.has(key);
    },
    enter(job) {
      const key = keyHere(job);
      if (key === null) return null;
      const batch = gathering.get(key) ?? gather(key);
      return { encode: (member, run, alone) => encodeIn(batch, member, run, alone) };
    },
  };
}

async function encodeIn(
  batch: Batch,
  member: Member,
  run: RunBatch,
  alone: () => Promise<void>,
): Promise<void> {
  const { signal, job } = member;
  batch.run ??= run;
  batch.members.push(member);
  if (batch.members.length >= (job.together?.size ?? 0)) batch.begin();
  if (await endOf(batch, member)) return;
  signal.throwIfAborted();
  await inLine(batch, signal, alone);
}

// One that is ended while it waits leaves at once.
async function inLine(batch: Batch, signal: AbortSignal, alone: () => Promise<void>): Promise<void> {
  const before = batch.line;
  const [over, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  batch.line = Promise.all([before, over.promise]);
  const leave = () => left.resolve();
  signal.addEventListener("abort", leave);
  try {
    await Promise.race([before, left.promise]);
    signal.throwIfAborted();
    await alone();
  } finally {
    signal.removeEventListener("abort", leave);
    over.resolve();
  }
}

// A run continues without a job that was ended; the last one ends it, and waits until nothing is left of it.
async function endOf(batch: Batch, member: Member): Promise<boolean> {
  const { signal } = member;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = () => {
    const { running } = batch;
    if (running.length > 0 && running.every((each) => each.signal.aborted)) batch.abort.abort(signal.reason);
    else resolve(false);
  };
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    // One that came too late is not among them.
    const done = await Promise.race([batch.end, promise]);
    signal.throwIfAborted();
    return done && batch.running.includes(member);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function runTogether(batch: Batch, scratch: Pick<Scratch, "create">): Promise<boolean> {
  const { run, abort } = batch;
  const members = batch.members.filter(({ signal }) => !signal.aborted);
  if (run === null || members.length < 2) return false;
  batch.running = members;
  let home: string | null = null;
  try {
    home = await scratch.create();
    for (const at of members.keys()) await mkdir(join(home, String(at), "out"), { recursive: true });
    await run(members, home, abort.signal);
    for (const [at, { folder, signal }] of members.entries())
      await moveAll(join(home, String(at)), folder).catch((thrown) => {
        if (!signal.aborted) throw thrown;
      });
    return true;
  } catch {
    // Whose fault it is shows when each is encoded alone. Until then none takes the memory of the run that is over.
    for (const { fits } of members) fits(0);
    return false;
  } finally {
    // What cannot be removed now goes with the server's folder, and is no fault of these jobs.
    if (home !== null) await removeFolder(home).catch(() => {});
  }
}

function keyOf({ lane = "", together, plan, chunk, source, input }: NativeJob): string | null {
  // What another program decodes first is a file of each job.
  const decoded = together && !needsDecoder(source) && decodeKey(plan, chunk);
  if (!decoded) return null;
  // ffmpeg counts the time of a transport stream from the first packet of the streams that it reads.
  const heard = containerOf(source).transport && plan.audio && soundStream(plan);
  return JSON.stringify([lane, together.id, input.size, input.etag, decoded, heard]);
}

async function moveAll(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const paths = [join(from, entry.name), join(to, entry.name)] as const;
    if (entry.isDirectory()) await moveAll(...paths);
    else await rename(...paths);
  }
}
