import { DurableObject } from "cloudflare:workers";
import type { MediaError } from "../../src/media/errors.ts";
import type { Step } from "../../src/runs/step.ts";
import { clearMedia, type MediaFolder } from "../../src/runs/steps/media-keys.ts";
import type { Task } from "../../src/runs/task.ts";
import {
  applyToStep,
  applyToTask,
  isFinished,
  type RunEvent,
  type TaskEnd,
} from "../../src/runs/transitions.ts";
import { mediaBucket, mediaStorage } from "../env.ts";
import * as errors from "../errors.ts";
import { QUEUE_NAME } from "../limits/run-queue.ts";
import { logFault, nameRun } from "../log.ts";
import { createR2Uploads } from "../media/r2-uploads.ts";
import { patiently } from "../network/durable-objects.ts";
import { createR2Storage } from "../network/r2-storage.ts";
import { serviceSettings } from "../settings.ts";
import { createRunWebhooks, type RunWebhooks } from "../webhooks/run-webhooks.ts";
import { BlockedRun, createAdmission, createRunTurn } from "./admission.ts";
import { createRunEvents, createRunListeners } from "./events.ts";
import { createRunMirror } from "./run-mirror.ts";
import { createRunRows, type Leftovers, RunPin, type RunRows } from "./run-rows.ts";
import type { RunSetup } from "./runs.ts";
import {
  assessRun,
  CLEANUPS_MS,
  cleanupDue,
  countWake,
  createRunAlarm,
  EXPIRED,
  failureOf,
  nextAlarm,
  outputExpires,
  QUEUED_WAKES,
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
 * Holds the record of one task or standalone step and is its only writer. Changes its state, mirrors it to KV and to the
 * project's index, starts and watches its run, and clears its files.
 */
export class TaskObject extends DurableObject<Bindings> {
  readonly #alarm = createRunAlarm(this.ctx.storage, this.ctx.id.name, (pause) => this.#arm(pause));
  readonly #listeners = createRunListeners();
  readonly #storage = mediaStorage(this.env);
  readonly #rows = createRunRows(this.ctx.storage.sql);
  readonly #events = createRunEvents(() => this.#rows.get());
  readonly #turn = createRunTurn(this.#rows, () => this.env.QUEUE.getByName(QUEUE_NAME));
  readonly #webhooks = createRunWebhooks(this.ctx.storage.sql, this.env, () => this.#arm());
  readonly #mirror = createRunMirror(this.env, this.#rows, this.#webhooks);
  readonly #admission = createAdmission({
    storage: this.ctx.storage,
    rows: this.#rows,
    webhooks: this.#webhooks,
    mirror: this.#mirror,
    unlist: (project) => this.#mirror.withdraw(project, this.ctx.id.name ?? ""),
    arm: (at) => this.#alarm.set(at),
    rearm: () => this.#arm(),
  });

  /** Stores and lists a new record and queues its run; false when its project cannot list it, which withdraws the record. */
  async create(project: string, record: Task | Step, setup: RunSetup): Promise<boolean> {
    const admitted = await this.#admission.admit(project, record, setup);
    if (admitted) this.ctx.waitUntil(this.#attend());
    return admitted;
  }

  /** Returns the record as JSON; `foreign` when it belongs to another project, null when this object has none. */
  async read(project: string): Promise<string | "foreign" | null> {
    const row = this.#rows.text();
    return row && (row.project === project ? row.record : "foreign");
  }

  /**
   * Streams the state and its changes after version `lastVersion` as server-sent events; `over` when the run ended at or before that
   * version, null for another project.
   */
  follow(project: string, lastVersion: number): ReadableStream<Uint8Array> | "over" | null {
    return this.#events.follow(project, lastVersion);
  }

  /** Returns a `RunBegin` as JSON; null when there is nothing to run. */
  begin(): string | null {
    const { project, base, record } = this.#rows.get() ?? {};
    const sealed_key = this.#rows.key();
    return record && !isFinished(record) ? JSON.stringify({ project, base, record, sealed_key }) : null;
  }

  /** Whether the run exists and is not finished, so that it may write. */
  goesOn(): boolean {
    const row = this.#rows.get();
    return row !== null && !isFinished(row.record);
  }

  /** The run while its job blocks it. */
  get held(): BlockedRun {
    return new BlockedRun({
      rows: this.#rows,
      admission: this.#admission,
      changed: () => this.#events.changed(),
      apply: (row, event) => this.#apply(row, event),
      enter: () => this.ctx.waitUntil(this.alarm()),
    });
  }

  /** The pin of the run's source. */
  get pin(): RunPin {
    return new RunPin(this.#rows);
  }

  /** Starts a queued run; false when it is over. */
  async go(): Promise<boolean> {
    const goes_on = this.#turn.take();
    if (goes_on) await this.#arm();
    return goes_on;
  }

  /** Gives a waiting run its slot for heavy work; false when it is over. */
  async goHeavy(): Promise<boolean> {
    const waited = this.#rows.get()?.turn === "heavy_waits";
    const goes_on = this.#turn.takeHeavy();
    if (goes_on) await this.#arm();
    if (goes_on && waited) this.#wake();
    return goes_on;
  }

  /** Requests a slot for heavy work. A run that has to wait is woken when it gets one, or when it is over. */
  async askHeavy(): Promise<"granted" | "waits" | "over"> {
    if (this.#hear() === null) return "over";
    const granted = await this.#turn.askHeavy();
    await this.#arm();
    return granted === null ? "over" : granted ? "granted" : "waits";
  }

  /** Records an open upload into the run's folder, which is aborted if it is still incomplete when the run ends. */
  noteUpload(id: string, key: string): void {
    if (this.goesOn()) this.#rows.noteUpload(id, key);
  }

  /** Forgets an upload that was completed or aborted. */
  forgetUpload(id: string): void {
    this.#rows.forgetUpload(id);
  }

  /** Applies an event of the run; false when the run is over and must stop. */
  async report(event: RunEvent): Promise<boolean> {
    const row = this.#hear();
    if (row) await this.#apply(row, event);
    return row !== null;
  }

  /** Records a sign of life and answers after `ms`; false, at once, when the run is over and must stop. */
  async listen(ms: number): Promise<boolean> {
    return this.#hear() !== null && this.#listeners.listen(ms);
  }

  /** Stops the run and returns the cancelled record as JSON, or the reason why it cannot. */
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
    // Deleting the instance comes first: if it fails, the run is still complete.
    await deleteInstance(this.env, row.record.id);
    await clearMedia(this.#storage, row.record.id, ["work", "out"]);
    await this.#mirror.remove(project, row.record, row.version);
    await patiently(() => this.#turn.leave());
    this.#webhooks.forget();
    this.#rows.delete();
    this.#rows.setLeftovers(leftoversAfter(row.cleanups));
    this.#events.changed();
    this.ctx.waitUntil(reportEnd(this.env, row.record, "deleted"));
    await this.#arm();
    return "removed";
  }

  /** Frees the storage of a finished run that has been archived; false while the run still has work to do. */
  async retire(project: string): Promise<boolean> {
    const row = this.#rows.get();
    if (!row) return true;
    if (row.project !== project || this.#dueAt(row) !== null || !this.#webhooks.isEmpty()) return false;
    await deleteInstance(this.env, row.record.id);
    this.#rows.delete();
    await this.#arm();
    return true;
  }

  /** Returns the run's own webhook URL; null when it has none. */
  webhookUrl(project: string): string | null {
    return this.#rows.get()?.project === project ? this.#webhooks.url() : null;
  }

  /** Returns the run's sealed encryption key; null when it has none. */
  sealedKey(project: string): string | null {
    return this.#rows.get()?.project === project ? this.#rows.key() : null;
  }

  /** Repeats a webhook delivery of the run, or returns what is missing for it. */
  replay(project: string, delivery_id: string): ReturnType<RunWebhooks["replay"]> {
    return this.#webhooks.replay(project, delivery_id);
  }

  /**
   * Delivers webhooks, starts and watches the run, clears its files and mirrors its record. A duty that fails does not stop the
   * others and is retried with a growing delay; the mirrors depend on other objects and come last.
   */
  override async alarm(): Promise<void> {
    this.#alarm.forget();
    await this.#admission.idle();
    await this.#attend();
  }

  async #attend(): Promise<void> {
    await this.#alarm.run({
      withdraw: () => this.#admission.withdraw(),
      mail: async () => this.#webhooks.start(),
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
      this.#webhooks.note(record, before, version);
    });
    if (isFinished(record)) {
      this.#listeners.end();
      if (row.turn === "heavy_waits") this.#wake();
      this.ctx.waitUntil(reportEnd(this.env, record));
    }
    this.#events.changed();
    await this.#arm();
    const leaving = isFinished(record) ? this.#turn.leave().catch(() => {}) : null;
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

  async #arm(pause = 0): Promise<void> {
    const [row, leftovers] = [this.#rows.get(), this.#rows.leftovers()];
    const withdrawn = this.#rows.withdrawn() !== null;
    if (!row && !withdrawn && !leftovers && this.#webhooks.isEmpty()) return this.#free();
    const now = Date.now() + pause;
    const due = [
      row && this.#dueAt(row, now),
      this.#webhooks.dueAt(),
      leftovers?.due_at,
      withdrawn ? now : null,
    ];
    const times = due.filter((time) => time != null);
    if (times.length > 0) await this.#alarm.set(Math.max(now, Math.min(...times)));
  }

  async #free(): Promise<void> {
    const freed = this.ctx.storage.deleteAll();
    // The next call may arrive while the storage is being freed, so clear before the await.
    for (const part of [this.#rows, this.#webhooks]) part.cleared();
    this.#alarm.forget();
    await freed;
  }
}

async function clearFiles(
  bucket: R2Bucket,
  id: string,
  folders: readonly MediaFolder[],
  rows: RunRows,
): Promise<void> {
  const uploads = createR2Uploads(bucket);
  for (const { id, key } of rows.uploads()) {
    // R2 aborts incomplete uploads itself after a week.
    await uploads
      .resume(key, id)
      .abort()
      .catch(() => {});
    rows.forgetUpload(id);
  }
  await clearMedia(createR2Storage(bucket), id, folders);
}

function foldersOf(record: Task | Step): readonly MediaFolder[] {
  const own = record.object === "task" && record.output?.startsWith("s3://");
  return record.status === "succeeded" && !own ? ["work"] : ["work", "out"];
}

async function clearLeftovers(env: Bindings, rows: RunRows, id: string): Promise<void> {
  const leftovers = rows.leftovers();
  if (!leftovers || Date.now() < leftovers.due_at) return;
  await clearFiles(mediaBucket(env), id, ["work", "out"], rows);
  rows.setLeftovers(leftoversAfter(leftovers.cleanups + 1));
}

/** Returns the next clearing of a deleted run's files after `cleanups` of them; null after the last. */
function leftoversAfter(cleanups: number): Leftovers | null {
  const pause = CLEANUPS_MS[cleanups];
  return pause === undefined ? null : { cleanups, due_at: Date.now() + pause };
}

/** Clears the files of a finished run that are due; `expires` returns when its output expires, in milliseconds since the epoch. */
async function cleanUp(env: Bindings, rows: RunRows, expires: (row: RunRow) => number): Promise<void> {
  const row = rows.get();
  const due = row && cleanupDue(row, expires(row));
  if (!row || due === null || Date.now() < due) return;
  const max = CLEANUPS_MS.length;
  if (row.cleanups === max) {
    await clearMedia(mediaStorage(env), row.record.id, ["out"]);
    rows.update({ cleanups: EXPIRED });
    return;
  }
  const succeeded = row.record.status === "succeeded";
  if (!succeeded && row.cleanups > 0) await terminateInstance(env, row.record.id);
  await clearFiles(mediaBucket(env), row.record.id, foldersOf(row.record), rows);
  const cleanups = succeeded ? max : row.cleanups + 1;
  rows.update({ cleanups, cleanup_at: Date.now() + (CLEANUPS_MS[cleanups] ?? 0) });
}

/** Checks a run: wakes one that is silent, and fails one that is stalled or lost through `apply`. */
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
  const verdict = assessRun(row, watchTimes(serviceSettings(env)), Date.now());
  if (verdict === "well") return;
  if (verdict === "stalled") return fail(errors.runStalled());
  const status = await instanceStatus(env, row.record.id);
  const isOver = status === null || status === "errored" || status === "terminated" || status === "complete";
  const current = rows.get();
  if (!current || isFinished(current.record)) return;
  const now = Date.now();
  // The engine crashed before it stored the new instance, which is created again.
  const never_created = status === null && current.record.status === "queued" && verdict !== "lost";
  if (never_created) return rows.update({ started: 0, heard_at: now, wakes: countWake(row.wakes, false) });
  const waits = status === "queued";
  if (isOver || (verdict === "lost" && !waits)) return fail(errors.runLost());
  // A queued instance cannot report yet, but gets a few events: a local engine that was killed while it stored the instance starts it at the
  // next one.
  if (status !== UNKNOWN && !(waits && row.wakes <= -QUEUED_WAKES)) {
    await wakeInstance(env, row.record.id, status);
  }
  rows.update({ heard_at: now, progressed_at: now, wakes: countWake(row.wakes, waits) });
}

/** Reports the end of a task to its job, if it has one. A job that misses the report polls the task. */
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
