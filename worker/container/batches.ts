import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { repairableOf } from "../../src/encoders/file-repair.ts";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { joinPeaks, readPeaksHeader } from "../../src/encoders/waveform.ts";
import { containerOf } from "../../src/media/containers.ts";
import { needsDecoder } from "../../src/media/decoded-pictures.ts";
import { samplesPerPixel } from "../../src/media/features/waveform-zoom.ts";
import { batchArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { outputFile } from "../../src/media/ffmpeg/output-files.ts";
import type { PacketCounts } from "../../src/media/ffmpeg/packet-count.ts";
import { checkRun, parseProgress } from "../../src/media/ffmpeg/run-log.ts";
import type { Toolset } from "../../src/media/ffmpeg/toolset.ts";
import { soundStream } from "../../src/media/ffmpeg/trim.ts";
import { type Chunk, outputSeconds, type Plan } from "../../src/media/plan.ts";
import { decodeKey } from "../../src/media/route.ts";
import type { Source } from "../../src/media/source.ts";
import { type JobContext, type RunHooks, readPacketCounts } from "./encode-job.ts";
import { runFfmpeg, type Watchdog, watch } from "./ffmpeg-process.ts";
import { removeFolder, type Scratch } from "./files.ts";

/** One job of a batch. */
export interface Member extends RunHooks {
  job: NativeJob;
  /** Folder that receives the job's files. */
  folder: string;
}

/** Runs ffmpeg once for all members; each writes its output and lists to the folder of its index in `home`. Rejects when any of them fails. */
type RunBatch = (members: readonly Member[], home: string, signal: AbortSignal) => Promise<void>;

/** The membership of a job in a batch. */
export interface BatchMembership {
  /** Encodes the job with the others; if that fails, with `alone`, one job of the batch at a time. */
  encode(member: Member, run: RunBatch, alone: () => Promise<void>): Promise<void>;
}

/** The batches of a machine: jobs that decode the same pictures and share one ffmpeg. */
export interface Batches {
  /** Returns whether a batch that has not started waits for such a job. */
  awaits(job: NativeJob): boolean;
  /** Adds a job to its batch, which waits a moment for the other jobs; null for a job without a batch. */
  enter(job: NativeJob): BatchMembership | null;
}

interface Batch {
  /** Jobs that are ready. */
  members: Member[];
  /** Jobs of its run; empty before the start. */
  running: Member[];
  run: RunBatch | null;
  begin(): void;
  /** Resolves to whether its run succeeded. */
  end: Promise<boolean>;
  /** Kills its run. */
  abort: AbortController;
  /** Resolves when the jobs that are encoded alone are done. */
  line: Promise<unknown>;
}

const GATHER_MS = 3000;

/** Creates the batches of a machine. With several slots there are none, because separate jobs on all slots finish sooner. */
export function createBatches(scratch: Pick<Scratch, "create">, slots: number): Batches {
  const gathering = new Map<string, Batch>();
  const batchKey = (job: NativeJob) => (slots > 1 ? null : keyOf(job));

  function gather(key: string): Batch {
    const { promise, resolve } = Promise.withResolvers<void>();
    const batch: Batch = {
      members: [],
      running: [],
      run: null,
      begin: resolve,
      end: Promise.resolve(false),
      abort: new AbortController(),
      line: Promise.resolve(),
    };
    gathering.set(key, batch);
    const timer = setTimeout(resolve, GATHER_MS);
    batch.end = promise.then(() => {
      clearTimeout(timer);
      gathering.delete(key);
      return encodeBatch(batch, scratch);
    });
    return batch;
  }

  return {
    awaits(job) {
      const key = batchKey(job);
      return key !== null && gathering.has(key);
    },
    enter(job) {
      const key = batchKey(job);
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
  if (await joinRun(batch, member)) return;
  signal.throwIfAborted();
  await encodeInTurn(batch, signal, alone);
}

async function encodeInTurn(batch: Batch, signal: AbortSignal, alone: () => Promise<void>): Promise<void> {
  const before = batch.line;
  const [over, departure] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  batch.line = Promise.all([before, over.promise]);
  const leave = () => departure.resolve();
  signal.addEventListener("abort", leave);
  try {
    await Promise.race([before, departure.promise]);
    signal.throwIfAborted();
    await alone();
  } finally {
    signal.removeEventListener("abort", leave);
    over.resolve();
  }
}

// The last job to end kills the run, and waits until its processes and files are gone.
async function joinRun(batch: Batch, member: Member): Promise<boolean> {
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
    const done = await Promise.race([batch.end, promise]);
    signal.throwIfAborted();
    return done && batch.running.includes(member);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function encodeBatch(batch: Batch, scratch: Pick<Scratch, "create">): Promise<boolean> {
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
    for (const { fits } of members) fits(0);
    return false;
  } finally {
    if (home !== null) await removeFolder(home).catch(() => {});
  }
}

function keyOf({ lane = "", together, plan, chunk, source, input }: NativeJob): string | null {
  const decoded = together && !needsDecoder(source) && decodeKey(plan, chunk);
  if (!decoded) return null;
  // ffmpeg starts the clock of a transport stream at the first packet of the streams that it reads.
  const sound = containerOf(source).transport && plan.audio && soundStream(plan);
  return JSON.stringify([lane, together.id, input.size, input.etag, decoded, sound]);
}

async function moveAll(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const paths = [join(from, entry.name), join(to, entry.name)] as const;
    if (entry.isDirectory()) await moveAll(...paths);
    else await rename(...paths);
  }
}

/** Creates the function that encodes a batch. Its jobs share tools and input, so those of the first are used. */
export function createRunBatch({ settings, installed, proxy }: JobContext, tools: Toolset): RunBatch {
  return async (members, home, signal) => {
    const [first] = members;
    if (!first) return;
    const failed = new AbortController();
    const { source, plan } = first.job;
    const fail = (error: unknown) => failed.abort(error);
    const input = proxy.serve(first.job.input, fail, repairableOf(source, plan));
    const outputs = members.map(({ job: { plan, chunk, source } }, at) => {
      const output = join(String(at), "out", outputFile(plan, chunk).name);
      return { plan, chunk, source, output, lists: `${at}/` };
    });
    const seconds = outputSeconds(first.job.plan, first.job.chunk);
    let speed: number | null = null;
    let done = 0;
    let watchdog: Watchdog | undefined;
    try {
      const end = await runFfmpeg({
        cwd: home,
        installed,
        limits: settings,
        args: batchArgs(outputs, input.url, tools),
        signal: AbortSignal.any([signal, failed.signal]),
        onProgress(line) {
          const [, name, value] = /^(speed|out_time_us)=\s*([\d.]+)/.exec(line) ?? [];
          if (name === "speed") speed = Number(value);
          else if (name) done = Math.max(done, Number(value));
          const reached = parseProgress(line, seconds);
          if (reached === null || !seconds) return;
          for (const member of members) member.onProgress(reached / seconds, speed);
        },
        onStart(ffmpeg) {
          watchdog = watch({
            ffmpeg,
            folder: home,
            stall_seconds: settings.stall_seconds,
            progress: () => done + input.sentBytes(),
            isWaiting: () => input.isWaiting(),
            fits: (bytes) =>
              members
                .filter((member) => !member.signal.aborted)
                .every(({ fits }, _, running) => fits(bytes / running.length)),
          });
        },
      });
      signal.throwIfAborted();
      failed.signal.throwIfAborted();
      const fault = watchdog?.fault();
      if (fault) throw fault;
      for (const { plan, chunk, source } of outputs) checkRun(end, plan, chunk, source);
    } finally {
      watchdog?.stop();
      input.close();
    }
  };
}

/** Runs a job in its folder; `points_before` counts the points of the waveform before its chunk. */
export type EncodeIn = (job: Member, points_before: number) => Promise<void>;

/**
 * Measures the segments of a waveform's sound in parallel, one decoder a processor, and writes their peaks as a single run would. Returns
 * null, without output, for a job that needs a single run.
 */
export async function measureInParallel(
  member: Member,
  processors: number,
  encode: EncodeIn,
): Promise<PacketCounts | null> {
  const { plan, chunk, source } = member.job;
  const segments = segmentsOf(plan, chunk, source, processors);
  if (segments.length < 2) return null;
  const failed = new AbortController();
  const signal = AbortSignal.any([member.signal, failed.signal]);
  const [shares, speeds, bytes] = [segments.map(() => 0), segments.map(() => 0), segments.map(() => 0)];
  const runs = segments.map(async ({ chunk, points_before }, at) => {
    const folder = join(member.folder, `segment-${at}`);
    await mkdir(join(folder, "out"), { recursive: true });
    const own: Member = {
      job: { ...member.job, chunk },
      folder,
      signal,
      onProgress(share, speed) {
        shares[at] = share / segments.length;
        speeds[at] = speed ?? 0;
        member.onProgress(sum(shares), sum(speeds) || null);
      },
      fits(usage) {
        bytes[at] = usage;
        return member.fits(sum(bytes));
      },
    };
    await encode(own, points_before).catch((thrown) => {
      failed.abort(thrown);
      throw thrown;
    });
    const peaks = await readFile(join(folder, "out", outputFile(plan, chunk).name));
    return { peaks, counts: await readPacketCounts(own.job, folder) };
  });
  const ends = await Promise.allSettled(runs);
  member.signal.throwIfAborted();
  const done = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  const peaks = done.map((each) => new Uint8Array(each.peaks));
  if (done.length < segments.length || !areComplete(peaks, segments)) {
    member.fits(0);
    return null;
  }
  await writeFile(join(member.folder, "out", outputFile(plan, chunk).name), joinPeaks(peaks));
  return { sound: sum(done.map(({ counts }) => counts.sound ?? 0)) };
}

// A packet that cannot be decoded shifts all later points of a single run, but only those of its own segment here.
function areComplete(peaks: readonly Uint8Array[], segments: readonly Segment[]): boolean {
  const headers = peaks.map(readPeaksHeader);
  return headers.every(
    ({ samples, channels, sample_rate }, at) =>
      samples === (segments[at]?.samples ?? samples) &&
      channels === headers[0]?.channels &&
      sample_rate === headers[0]?.sample_rate,
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** A segment of a waveform's audio, and the number of points before it. */
export interface Segment {
  chunk: Chunk;
  points_before: number;
  /** Samples of each channel up to the next segment; null for the last one, which ends with the sound. */
  samples: number | null;
}

const MIN_SECONDS = 300;
// An MP3 packet depends on the previous one and on up to 511 earlier bytes: at most a second of audio, at the lowest bitrate.
const LEAD_SECONDS = 1;

/**
 * Divides a waveform's audio into at most `max` segments to measure in parallel, in order of time; a single one if the result would
 * not be exact. Each starts at a point.
 */
export function segmentsOf(plan: Plan, chunk: Chunk, source: Source, max: number): Segment[] {
  const whole = [{ chunk, points_before: 0, samples: null }];
  const { sample_rate = 0 } = source.audio ?? {};
  if (!plan.waveform || !containerOf(source).exact_seek || sample_rate < 1 || chunk.start > 0) return whole;
  const samples = samplesPerPixel(plan.waveform.zoom, sample_rate);
  const seconds = (chunk.end ?? plan.duration ?? 0) - chunk.start;
  const count = Math.min(max, Math.floor(seconds / MIN_SECONDS));
  const points = (seconds * sample_rate) / samples;
  const firsts = Array.from({ length: count }, (_, at) => Math.round((at * points) / count));
  if (count < 2 || new Set(firsts).size < count) return whole;
  return firsts.map((first, at) => {
    const next = firsts[at + 1];
    const timeOf = (point: number) => (point * samples) / sample_rate;
    const start = timeOf(first);
    return {
      chunk: {
        ...chunk,
        start,
        end: next === undefined ? chunk.end : timeOf(next),
        ...(at > 0 && { decode_from: start - LEAD_SECONDS }),
      },
      points_before: first,
      samples: next === undefined ? null : (next - first) * samples,
    };
  });
}
