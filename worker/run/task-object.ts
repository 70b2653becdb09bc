import { DurableObject } from "cloudflare:workers";
import type { MediaError } from "../../src/media/errors.ts";
import type { TaskEnd } from "../../src/runs/job.ts";
import type { Step } from "../../src/runs/step.ts";
import { clearMedia, type MediaFolder } from "../../src/runs/steps/media-keys.ts";
import type { Task } from "../../src/runs/task.ts";
import { applyToStep, applyToTask, isFinished, type RunEvent } from "../../src/runs/transitions.ts";
import { mediaBucket, mediaStorage } from "../env.ts";
import { errors } from "../errors.ts";
import { QUEUE_NAME } from "../limits/run-queue.ts";
import { createR2Uploads } from "../media/r2-uploads.ts";
import { patiently } from "../network/durable-objects.ts";
import { createR2Storage } from "../network/r2-storage.ts";
import { logFault, nameRun } from "../observability/log.ts";
import { serviceSettings } from "../settings/read.ts";
import { createRunMail, type RunMail } from "../webhooks/run-webhooks.ts";
import { createAdmission, createRunTurn, HeldRun } from "./admission.ts";
import { createRunEvents, createRunListeners } from "./events.ts";
import { createRunMirror } from "./run-mirror.ts";
import { createRunRows, type Leftovers, RunPin, type RunRows } from "./run-rows.ts";
import type { Made } from "./runs.ts";
import {
  CLEANUPS_MS,
  cleanupDue,
  createRunAlarm,
  EXPIRED,
  failureOf,
  judgeRun,
  nextAlarm,
  outputExpires,
  type RunRow,
  watchTimes,
} from "./schedule.ts";
import {
  deleteInstance,
  instanceStatus,
  startInstance,
  terminateInstance,
  UNKNOWN,
  wakeInstance,
} from "./workflow-instance.ts";

/**
 * The record of one task or standalone step and its only writer: state changes, the mirror in KV and in the project's
 * index, the start of the run, the watch over it and the clearing of its files all happen here.
 */
export class TaskObject extends DurableObject<Bindings> {
  readonly #alarm = createRunAlarm(this.ctx.storage, this.ctx.id.name, (pause) => this.#arm(pause));
  readonly #listeners = createRunListeners();
  readonly #storage = mediaStorage(this.env);
  readonly #rows = createRunRows(this.ctx.storage.sql);
  readonly #events = createRunEvents(() => this.#rows.get());
  readonly #turn = createRunTurn(this.#rows, () => this.env.QUEUE.getByName(QUEUE_NAME));
  readonly #mail = createRunMail(this.ctx.storage.sql, this.env, () => this.#arm());
  readonly #mirror = createRunMirror(this.env, this.#rows, this.#mail);
  readonly #admission = createAdmission({
    ...{ storage: this.ctx.storage, rows: this.#rows, mail: this.#mail, mirror: this.#mirror },
    unlist: (project) => this.#mirror.withdraw(project, this.ctx.id.name ?? ""),
    ...{ arm: (at) => this.#alarm.set(at), rearm: () => this.#arm() },
  });

  /** Stores a new record, lists it and has its run enter the queue; false where its project cannot list it: then it is refused. */
  async create(project: string, record: Task | Step, made: Made): Promise<boolean> {
    const admitted = await this.#admission.admit(project, record, made);
    if (admitted) this.ctx.waitUntil(this.#attend());
    return admitted;
  }

  /** Returns the record as JSON, `foreign` for that of another project, null when this object has none. */
  async read(project: string): Promise<string | "foreign" | null> {
    const found = this.#rows.text();
    return found && (found.project === project ? found.record : "foreign");
  }

  /** Streams state and changes after version `seen` as server-sent events; `over` after the end, null for another project. */
  follow(project: string, seen: number): ReadableStream<Uint8Array> | "over" | null {
    return this.#events.follow(project, seen);
  }

  /** Returns what the run needs to start, as JSON; null when there is nothing to run. */
  begin(): string | null {
    const { project, base, record } = this.#rows.get() ?? {};
    const sealed_key = this.#rows.key();
    return record && !isFinished(record) ? JSON.stringify({ project, base, record, sealed_key }) : null;
  }

  /** True while the run may write: it is there and not finished. */
  goesOn(): boolean {
    const row = this.#rows.get();
    return row !== null && !isFinished(row.record);
  }

  /** The run as its job holds it back. */
  get held(): HeldRun {
    return new HeldRun({
      ...{ rows: this.#rows, admission: this.#admission, changed: () => this.#events.changed() },
      apply: (row, event) => this.#apply(row, event),
      enter: () => this.ctx.waitUntil(this.alarm()),
    });
  }

  /** The pin of the run's source. */
  get pin(): RunPin {
    return new RunPin(this.#rows);
  }

  /** Starts a run that has waited for its turn; false when it is over. */
  async go(): Promise<boolean> {
    const goes_on = this.#turn.take();
    if (goes_on) await this.#arm();
    return goes_on;
  }

  /** Lets a run that has waited begin its heavy work; false when it is over. */
  async goHeavy(): Promise<boolean> {
    const waited = this.#rows.get()?.turn === "heavy_waits";
    const goes_on = this.#turn.takeHeavy();
    if (goes_on) await this.#arm();
    if (goes_on && waited) this.#wake();
    return goes_on;
  }

  /** Asks for a turn at heavy work. A run that is to wait is woken when its turn comes, or when it is over. */
  async askHeavy(): Promise<"granted" | "waits" | "over"> {
    if (this.#hear() === null) return "over";
    const granted = await this.#turn.askHeavy();
    await this.#arm();
    return granted === null ? "over" : granted ? "granted" : "waits";
  }

  /** Remembers an upload into the run's folder that has begun, to drop it should it not be complete when the run ends. */
  noteUpload(id: string, key: string): void {
    if (this.goesOn()) this.#rows.noteUpload(id, key);
  }

  /** Forgets an upload that is complete or dropped. */
  forgetUpload(id: string): void {
    this.#rows.forgetUpload(id);
  }

  /** Applies an event of the run; false when the run is over and must stop. */
  async report(event: RunEvent): Promise<boolean> {
    const row = this.#hear();
    if (row) await this.#apply(row, event);
    return row !== null;
  }

  /** Takes a sign of life and answers after `ms`, or at once when the run is over: then false, and it must stop. */
  async listen(ms: number): Promise<boolean> {
    return this.#hear() !== null && this.#listeners.listen(ms);
  }

  /** Stops the run and returns the cancelled record as JSON, or why it cannot. */
  async cancel(project: string): Promise<{ record: string } | "unknown" | "finished"> {
    const row = this.#rows.get();
    if (!row || row.project !== project) return "unknown";
    if (isFinished(row.record)) return "finished";
    return { record: JSON.stringify(await this.#apply(row, { type: "cancelled" })) };
  }

  /** Removes the record, its mirrors and its files. */
  async remove(project: string): Promise<"removed" | "unknown" | "running"> {
    const row = this.#rows.get();
    if (!row || row.project !== project) return "unknown";
    if (!isFinished(row.record)) return "running";
    // First, as it may fail: then the whole run is still there.
    await deleteInstance(this.env, row.record.id);
    await clearMedia(this.#storage, row.record.id, ["work", "out"]);
    await this.#mirror.remove(project, row.record, row.version);
    await patiently(() => this.#turn.leave());
    this.#mail.forget();
    this.#rows.delete();
    this.#rows.setLeftovers(leftAfter(row.cleanups));
    this.#events.changed();
    this.ctx.waitUntil(reportEnd(this.env, row.record, "deleted"));
    await this.#arm();
    return "removed";
  }

  /** Frees the storage of a finished run that is archived elsewhere; false while something is left to do for it. */
  async retire(project: string): Promise<boolean> {
    const row = this.#rows.get();
    if (!row) return true;
    if (row.project !== project || this.#dueAt(row) !== null || !this.#mail.isEmpty()) return false;
    await deleteInstance(this.env, row.record.id);
    this.#rows.delete();
    await this.#arm();
    return true;
  }

  /** Returns the run's own webhook URL; null when it has none. */
  webhookUrl(project: string): string | null {
    return this.#rows.get()?.project === project ? this.#mail.url() : null;
  }

  /** Returns the run's sealed encryption key; null when it has none. */
  sealedKey(project: string): string | null {
    return this.#rows.get()?.project === project ? this.#rows.key() : null;
  }

  /** Makes a delivery of the run's events again, or returns what is missing for it. */
  replay(project: string, delivery_id: string): ReturnType<RunMail["replay"]> {
    return this.#mail.replay(project, delivery_id);
  }

  /**
   * Delivers webhooks, starts the run, watches over it, clears its files and mirrors its record. What fails is tried again, later
   * each time, and keeps nothing else from being done: the mirrors, which depend on others, come last.
   */
  override async alarm(): Promise<void> {
    this.#alarm.gone();
    await this.#admission.idle();
    await this.#attend();
  }

  async #attend(): Promise<void> {
    await this.#alarm.run({
      withdraw: () => this.#admission.withdraw(),
      mail: async () => this.#mail.start(),
      turn: () => this.#turn.ask(),
      start: () => this.#start(),
      watch: () => watchRun(this.env, this.#rows, (row, event) => this.#apply(row, event)),
      cleanup: () => cleanUp(this.env, this.#rows, (row) => this.#expires(row)),
      leftovers: () => clearLeftovers(this.env, this.#rows, this.ctx.id.name ?? ""),
      mirror: () => this.#mirror.write(),
    });
  }

  #hear(): RunRow | null {
    const row = this.#rows.get();
    if (!row || isFinished(row.record)) return null;
    this.#rows.update({ heard_at: Date.now(), wakes: 0 });
    return row;
  }

  async #apply(row: RunRow, event: RunEvent): Promise<Task | Step> {
    const now = Date.now();
    const before = row.record;
    const record =
      before.object === "task" ? applyToTask(before, event, now) : applyToStep(before, event, now);
    if (record === before) {
      this.#rows.update({ progressed_at: now });
      if (event.type === "encoder_chosen" && this.#rows.choose(event.choice)) this.#events.changed();
      return record;
    }
    const version = row.version + 1;
    const cleanup_at = now + (record.status === "succeeded" ? 0 : CLEANUPS_MS[0]);
    this.ctx.storage.transactionSync(() => {
      this.#rows.update({ record, version, progressed_at: now, ...(isFinished(record) && { cleanup_at }) });
      this.#mail.note(record, before, version);
    });
    if (isFinished(record)) {
      this.#listeners.end();
      if (row.turn === "heavy_waits") this.#wake();
      this.ctx.waitUntil(reportEnd(this.env, record));
    }
    this.#events.changed();
    await this.#arm();
    // Should it fail, the alarm does it.
    const leaving = isFinished(record) ? this.#turn.leave().catch(() => {}) : null;
    // The alarm brings other changes to the lists within a second.
    if (record.status !== before.status) await this.#mirror.index(row.project, record, version);
    await leaving;
    return record;
  }

  async #start(): Promise<void> {
    const row = this.#rows.get();
    if (!row || row.started || row.turn !== "goes_on" || isFinished(row.record)) return;
    await startInstance(this.env, row.record.id);
    this.#rows.update({ started: 1 });
  }

  // Should it fail, the watch wakes the run, or the clean-up terminates it.
  #wake(): void {
    const id = this.ctx.id.name ?? "";
    const failed = (thrown: unknown) => logFault("not woken", thrown, nameRun(id));
    this.ctx.waitUntil(patiently(() => wakeInstance(this.env, id, null)).catch(failed));
  }

  #expires({ record }: RunRow): number {
    return outputExpires(record, serviceSettings(this.env).MEDIA_TTL) * 1000;
  }

  #dueAt(row: RunRow, now = Date.now()): number | null {
    return nextAlarm(row, watchTimes(serviceSettings(this.env)).watch, this.#expires(row), now);
  }

  // One alarm serves all: it is set to the earliest thing that is due, after a failure not before `pause` milliseconds. A deleted
  // run whose events are delivered leaves nothing behind.
  async #arm(pause = 0): Promise<void> {
    const [row, left] = [this.#rows.get(), this.#rows.leftovers()];
    const withdrawn = this.#rows.withdrawn() !== null;
    if (!row && !withdrawn && !left && this.#mail.isEmpty()) return this.#free();
    const now = Date.now() + pause;
    const due = [row && this.#dueAt(row, now), this.#mail.dueAt(), left?.due_at, withdrawn ? now : null];
    const times = due.filter((time) => time != null);
    if (times.length > 0) await this.#alarm.set(Math.max(now, Math.min(...times)));
  }

  async #free(): Promise<void> {
    const freed = this.ctx.storage.deleteAll();
    // At once: the next call may come before this one has freed all.
    for (const part of [this.#rows, this.#mail]) part.cleared();
    this.#alarm.gone();
    await freed;
  }
}

/** Aborts a run's incomplete uploads and removes its files from the given folders. */
async function clearFiles(
  bucket: R2Bucket,
  id: string,
  folders: readonly MediaFolder[],
  rows: RunRows,
): Promise<void> {
  const uploads = createR2Uploads(bucket);
  for (const { id, key } of rows.uploads()) {
    // What cannot be dropped, storage drops by itself after a week.
    await uploads
      .resume(key, id)
      .abort()
      .catch(() => {});
    rows.forgetUpload(id);
  }
  await clearMedia(createR2Storage(bucket), id, folders);
}

// The output stays only if the run succeeded and its output is not in the caller's own storage.
function foldersOf(record: Task | Step): readonly MediaFolder[] {
  const own = record.object === "task" && record.output?.startsWith("s3://");
  return record.status === "succeeded" && !own ? ["work"] : ["work", "out"];
}

/** Clears what a deleted run has written since, when that is due. */
async function clearLeftovers(env: Bindings, rows: RunRows, id: string): Promise<void> {
  const left = rows.leftovers();
  if (!left || Date.now() < left.due_at) return;
  await clearFiles(mediaBucket(env), id, ["work", "out"], rows);
  rows.setLeftovers(leftAfter(left.cleanups + 1));
}

/** Returns what is left to clear of a deleted run whose files were cleared so many times. */
function leftAfter(cleanups: number): Leftovers | null {
  const pause = CLEANUPS_MS[cleanups];
  return pause === undefined ? null : { cleanups, due_at: Date.now() + pause };
}

/** Clears the files of a finished run that are due; `expires` returns when its output is, in milliseconds since the epoch. */
async function cleanUp(env: Bindings, rows: RunRows, expires: (row: RunRow) => number): Promise<void> {
  const row = rows.get();
  const due = row && cleanupDue(row, expires(row));
  if (!row || due === null || Date.now() < due) return;
  const most = CLEANUPS_MS.length;
  if (row.cleanups === most) {
    await clearMedia(mediaStorage(env), row.record.id, ["out"]);
    rows.update({ cleanups: EXPIRED });
    return;
  }
  const good = row.record.status === "succeeded";
  if (!good && row.cleanups > 0) await terminateInstance(env, row.record.id);
  await clearFiles(mediaBucket(env), row.record.id, foldersOf(row.record), rows);
  const cleanups = good ? most : row.cleanups + 1;
  rows.update({ cleanups, cleanup_at: Date.now() + (CLEANUPS_MS[cleanups] ?? 0) });
}

/** Looks after a run that is silent or makes no progress: wakes it, or fails it by an event that `apply` takes. */
async function watchRun(
  env: Bindings,
  rows: RunRows,
  apply: (row: RunRow, event: RunEvent) => Promise<unknown>,
): Promise<void> {
  const fail = async (error: MediaError) => {
    const current = rows.get();
    if (current) await apply(current, failureOf(current.record, error));
  };
  const row = rows.get();
  if (!row) return;
  const finding = judgeRun(row, watchTimes(serviceSettings(env)), Date.now());
  if (finding === "well") return;
  if (finding === "stalled") return fail(errors.runStalled());
  const status = await instanceStatus(env, row.record.id);
  const ended = status === null || status === "errored" || status === "terminated" || status === "complete";
  // The record may have been finished while the status was asked for.
  const current = rows.get();
  if (!current || isFinished(current.record)) return;
  const now = Date.now();
  // A crash came between the creation of the instance and the moment when the engine kept it: it is created again.
  const unborn = status === null && current.record.status === "queued" && finding !== "lost";
  if (unborn) return rows.update({ started: 0, heard_at: now, wakes: row.wakes + 1 });
  if (ended || finding === "lost") return fail(errors.runLost());
  // A run that waits its turn has nothing to say yet, however long that takes.
  const waits = status === "queued";
  // One that cannot be asked about now is lost only if it stays silent.
  if (!waits && status !== UNKNOWN) await wakeInstance(env, row.record.id, status);
  rows.update({ heard_at: now, progressed_at: now, wakes: waits ? 0 : row.wakes + 1 });
}

/** Reports the end of a task to its job, if it has one. A job that misses the report asks the task itself. */
async function reportEnd(
  env: Bindings,
  record: Task | Step,
  ended = record.status as TaskEnd,
): Promise<void> {
  if (record.object !== "task" || !record.job) return;
  try {
    const { id } = record.job;
    await patiently(() => env.JOB.getByName(id).ended(record.id, ended, record.output));
  } catch (thrown) {
    logFault("end of a task not reported", thrown, nameRun(record.id));
  }
}
