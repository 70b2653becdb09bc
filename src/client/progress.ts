import { toMediaError } from "../media/errors.ts";
import { ENCODE_KINDS, type StepKind } from "../media/formats.ts";
import type { EncoderChoice } from "../media/refusal.ts";
import type { Job, JobUpdate } from "../runs/job.ts";
import type { Step } from "../runs/step.ts";
import type { Task } from "../runs/task.ts";
import { describeJob, isFinished } from "../runs/transitions.ts";
import * as errors from "./errors.ts";
import type { Update } from "./update.ts";

const WEIGHTS: Readonly<Record<StepKind, number>> = {
  probe: 2,
  ingest: 8,
  video: 85,
  audio: 85,
  image: 85,
  animation: 85,
  storyboard: 85,
  waveform: 85,
  adaptive_video: 85,
  upload: 5,
};

/**
 * Returns the progress of a task or step in percent, which never falls while it runs; a task reaches 100 only by succeeding.
 * Null until it can be measured.
 */
export function progressOf(record: Task | Step): number | null {
  if (record.object === "step") return record.progress;
  if (record.status === "succeeded") return 100;
  if (record.steps.every((step) => step.progress === null)) return null;
  const done = record.steps.reduce((sum, step) => sum + WEIGHTS[step.kind] * (step.progress ?? 0), 0);
  return Math.min(99, Math.floor(done / 100));
}

/**
 * Creates the update for a record; progress never falls below that of the previous update. The encoder comes from the encode's
 * output, from `choice`, or from the previous update, in this order.
 */
export function updateOf<T extends Task | Step>(
  record: T,
  before: Update<T> | null,
  choice: EncoderChoice | null = before?.choice ?? null,
  pace: Pace = createPace(),
): Update<T> {
  const values = [progressOf(record), before?.progress ?? null].filter((each) => each !== null);
  const progress = values.length > 0 ? Math.max(...values) : null;
  return { record, progress, ...pace(record), error: record.error, choice: choiceOf(record) ?? choice };
}

function choiceOf(record: Task | Step): EncoderChoice | null {
  const steps = record.object === "task" ? record.steps : [record];
  const { encoder, reason = "", refusals } = steps.find(({ kind }) => isEncode(kind))?.output ?? {};
  return encoder === undefined ? null : { encoder, reason, ...(refusals && { refusals }) };
}

/** Measures the pace of a run from its successive records. */
export type Pace = (record: Task | Step) => Pick<Update<Task | Step>, "speed" | "eta">;

const NO_PACE = { speed: null, eta: null };
const FRESH_SECONDS = 30;

/**
 * Creates a {@link Pace} for the encode of a run. It measures from the start of the encode, or from `sight`, its first record, when
 * the work may have been interrupted.
 */
export function createPace(since: "start" | "sight" = "start"): Pace {
  let current: { id: string; reports: Report[] } | null = null;
  return (record) => {
    const step = isFinished(record) ? undefined : encodeOf(record);
    if (!step?.progress) return NO_PACE;
    const report = { at: step.updated_at / 1000, percent: step.progress };
    if (current?.id !== step.id) {
      const start = (step.started_at ?? step.updated_at) / 1000;
      const includesStart = since === "start" || report.at - start < FRESH_SECONDS;
      current = { id: step.id, reports: includesStart ? [{ at: start, percent: 0 }] : [] };
    }
    const { reports } = current;
    if (reports.at(-1)?.percent !== report.percent) reports.push(report);
    const remaining = timeLeft(reports);
    if (remaining === null) return NO_PACE;
    const media = mediaSeconds(step, record.options);
    return { speed: media === null ? null : media * remaining.rate, eta: remaining.eta };
  };
}

function isEncode(kind: StepKind): boolean {
  return (ENCODE_KINDS as readonly StepKind[]).includes(kind);
}

function encodeOf(record: Task | Step): Step | undefined {
  const steps = record.object === "task" ? record.steps : [record];
  return steps.find(({ kind, status }) => status === "processing" && isEncode(kind));
}

function mediaSeconds({ kind, input }: Step, { start, end }: Record<string, unknown>): number | null {
  const duration = input?.object === "source" ? input.duration : undefined;
  if (kind === "image" || duration === undefined) return null;
  const from = typeof start === "number" ? start : 0;
  const to = typeof end === "number" ? Math.min(end, duration) : duration;
  return to > from ? to - from : null;
}

export interface Report {
  /** Seconds, from any origin. */
  at: number;
  /** Percentage of its step. */
  percent: number;
}

export interface Remainder {
  /** Share of the encode completed per second. */
  rate: number;
  eta: number;
}

// The chunks' share of a step; stitching only copies.
const ENCODED_PERCENT = 95;
// On recorded encodes of busy machines, a half reacted too late, and a quarter took every hitch for a change of pace.
const RECENT_SHARE = 1 / 3;
const RECENT_WEIGHT = 4 / 5;
// A gap between reports longer than this many median gaps is a hitch.
const MAX_GAP = 2;
const MIN_SECONDS = 2;
// When pictures span fewer seconds than this, the time before the first one says more.
const MIN_SPAN = 0.9;
const MIN_PERCENT = 3;

/**
 * Estimates the rate and the remaining time of an encode from its reports, oldest first; null while they are too few.
 */
export function timeLeft(all: readonly Report[]): Remainder | null {
  const reports = withoutHitches(all);
  const last = reports.at(-1);
  const started = reports.findIndex(({ percent }) => percent > 0);
  if (!last || started < 0 || last.percent < MIN_PERCENT) return null;
  const first = last.at - (reports[started]?.at ?? 0) >= MIN_SPAN ? started : Math.max(0, started - 1);
  const from = last.at - Math.max(MIN_SECONDS, (last.at - (reports[first]?.at ?? 0)) * RECENT_SHARE);
  const base = reports.slice(first).findLast(({ at }) => at <= from) ?? reports[first];
  if (!base || base.at >= last.at || base.percent >= last.percent) return null;
  const origin = reports[first] ?? base;
  const overall = slope(last.at > origin.at ? origin : base, last);
  // The geometric mean keeps a chunk that finishes at once from making the figures jump.
  const rate = slope(base, last) ** RECENT_WEIGHT * overall ** (1 - RECENT_WEIGHT);
  return { rate, eta: Math.max(0, 1 - last.percent / ENCODED_PERCENT) / rate };
}

function slope(from: Report, to: Report): number {
  return (to.percent - from.percent) / (to.at - from.at) / ENCODED_PERCENT;
}

function withoutHitches(reports: readonly Report[]): Report[] {
  const started = reports.filter(({ percent }) => percent > 0);
  const gaps = started.slice(1).map(({ at }, index) => at - (started[index]?.at ?? at));
  const median = gaps.toSorted((one, other) => one - other)[gaps.length >> 1] ?? 0;
  const longest = gaps.length < 3 ? Number.POSITIVE_INFINITY : MAX_GAP * median;
  let skipped = 0;
  return reports.map((report) => {
    const gap = gaps[started.indexOf(report) - 1] ?? 0;
    skipped += Math.max(0, gap - longest);
    return { ...report, at: report.at - skipped };
  });
}

type Progress = Pick<Update<Task>, "record" | "progress" | "eta">;

/**
 * Yields the state of a job, then again whenever one of its tasks changes, until all are finished; a slow consumer skips to the
 * newest. `updatesOf` returns the updates of a task until the signal aborts. Rejects as they do, except that a deleted task only
 * leaves the job.
 */
export async function* followJob(
  job: Job,
  updatesOf: (task: Task, signal: AbortSignal) => AsyncIterable<Progress>,
): AsyncGenerator<JobUpdate, void> {
  const stop = new AbortController();
  const latest = new Map<string, Progress>();
  for (const record of job.tasks) latest.set(record.id, { record, progress: progressOf(record), eta: null });
  let changed = Promise.withResolvers<void>();
  let failure: { thrown: unknown } | null = null;
  let running = 0;
  async function follow(task: Task): Promise<void> {
    running++;
    try {
      for await (const update of updatesOf(task, stop.signal)) {
        latest.set(task.id, update);
        changed.resolve();
      }
    } catch (thrown) {
      if (toMediaError(thrown).kind === "task_not_found") latest.delete(task.id);
      else failure ??= { thrown };
    }
    running--;
    changed.resolve();
  }
  for (const task of job.tasks) if (!isFinished(task)) void follow(task);
  try {
    for (;;) {
      const update = updateOfJob(job, [...latest.values()]);
      yield update;
      if (isFinished(update.record)) return;
      await changed.promise;
      changed = Promise.withResolvers();
      if (failure) throw (failure as { thrown: unknown }).thrown;
      if (latest.size === 0) throw errors.jobNotFound(job);
      if (running === 0 && ![...latest.values()].every(({ record }) => isFinished(record))) return;
    }
  } finally {
    stop.abort();
  }
}

function updateOfJob(job: Job, tasks: readonly Progress[]): JobUpdate {
  const records = tasks.map(({ record }) => record);
  const percents = tasks.map(({ record, progress }) => (isFinished(record) ? 100 : progress));
  const open = tasks.filter(({ record }) => !isFinished(record)).map(({ eta }) => eta);
  const hasProgress = percents.some((each) => each !== null);
  const sum = percents.reduce<number>((all, each) => all + (each ?? 0), 0);
  return {
    record: describeJob(job, records),
    progress: hasProgress ? Math.floor(sum / Math.max(1, percents.length)) : null,
    eta: open.reduce<number | null>(
      (longest, eta) => (longest === null || eta === null ? null : Math.max(longest, eta)),
      0,
    ),
  };
}
