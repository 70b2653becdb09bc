import { DurableObject } from "cloudflare:workers";
import type { ErrorKind } from "../../src/core/errors.ts";
import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";
import { applyToStep, applyToTask, isFinished, type RunEvent } from "../../src/core/transitions.ts";
import { clearMedia } from "../../src/steps/media-keys.ts";
import { instanceStatus, startInstance, terminateInstance, wakeInstance } from "../instance.ts";
import { QUEUE_NAME } from "../limits/queue-name.ts";
import { createRunTurn } from "../limits/run-turn.ts";
import { createR2Storage } from "../network/r2-storage.ts";
import { logFault, nameRun } from "../observability/log.ts";
import { serviceSettings } from "../settings/service-settings.ts";
import { createRunMail, type RunMail } from "../webhooks/run-mail.ts";
import { clearRun } from "./clear-run.ts";
import { mirrorKey } from "./mirror-key.ts";
import { createRunEvents } from "./run-events.ts";
import { createRunListeners } from "./run-listeners.ts";
import type { RunRow } from "./run-row.ts";
import { createRunRows } from "./run-rows.ts";
import type { Made } from "./runs.ts";
import { CLEANUPS_MS, cleanupDue, EXPIRED, MIRROR_MS, nextAlarm, outputExpires } from "./schedule.ts";
import { failureOf, judgeRun, watchTimes } from "./watch.ts";

const ALARM_RETRY_MS = 2000;

/**
 * The record of one task or standalone step and its only writer: state changes, the mirror in KV and in the project's
 * index, the start of the run, the watch over it and the clearing of its files all happen here.
 */
export class TaskObject extends DurableObject<Bindings> {
  #indexing: Promise<void> = Promise.resolve();
  #indexed = 0;
  readonly #listeners = createRunListeners();
  readonly #storage = createR2Storage(this.env.MEDIA);
  readonly #rows = createRunRows(this.ctx.storage.sql);
  readonly #events = createRunEvents(() => this.#rows.get());
  readonly #turn = createRunTurn(this.#rows, () => this.env.QUEUE.getByName(QUEUE_NAME));
  readonly #mail = createRunMail(this.ctx.storage.sql, this.env, () => this.#arm());

  /** Stores a new record; its run enters the queue and starts by the alarm, so that a crash right after loses nothing. */
  async create(project: string, record: Task | Step, { base, key_id, webhook_url }: Made): Promise<void> {
    if (this.#rows.get()) return;
    const now = Date.now();
    this.ctx.storage.transactionSync(() => {
      this.#rows.insert({ project, base, record, key_id }, now);
      if (webhook_url !== undefined) this.#mail.setUrl(webhook_url);
      this.#mail.note(record, null, 1);
    });
    await this.ctx.storage.setAlarm(now);
    await this.#index(project, record, 1);
  }

  /** Returns the record as JSON, `deleted` when deleted or of another project, null when this object never had one. */
  async read(project: string): Promise<string | "deleted" | null> {
    // A state returned here is in the lists, too.
    await this.#indexing;
    const row = this.#rows.get();
    if (row) return row.project === project ? JSON.stringify(row.record) : "deleted";
    return this.#rows.wasDeleted() ? "deleted" : null;
  }

  /** Streams state and changes after version `seen` as server-sent events; `over` after the end, null for another project. */
  follow(project: string, seen: number): ReadableStream<Uint8Array> | "over" | null {
    return this.#events.follow(project, seen);
  }

  /** Returns what the run needs to start, as JSON; null when there is nothing to run. */
  begin(): string | null {
    const row = this.#rows.get();
    if (!row || isFinished(row.record)) return null;
    const { project, base, record } = row;
    return JSON.stringify({ project, base, record });
  }

  /** True while the run may write: it is there and not finished. */
  goesOn(): boolean {
    const row = this.#rows.get();
    return row !== null && !isFinished(row.record);
  }

  /** Starts a run that has waited for its turn; false when it is over. */
  async go(): Promise<boolean> {
    const goes_on = this.#turn.take();
    if (goes_on) await this.#arm();
    return goes_on;
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
    const record = await this.#apply(row, { type: "cancelled" });
    return { record: JSON.stringify(record) };
  }

  /** Removes the record, its mirrors and its files. */
  async remove(project: string): Promise<"removed" | "unknown" | "running"> {
    const row = this.#rows.get();
    if (!row || row.project !== project) return "unknown";
    if (!isFinished(row.record)) return "running";
    // Its last state may be on its way into the lists.
    await this.#indexing;
    await clearMedia(this.#storage, row.record.id, ["work", "out"]);
    const { record, version } = row;
    // Its events are still delivered.
    if (this.#mail.changes(record.id).changes.length > 0) await this.#handOver(project, record, version);
    await this.#unmirror(project, record);
    await terminateInstance(this.env.RUN, row.record.id);
    await this.#turn.leave();
    await this.ctx.storage.deleteAlarm();
    this.#rows.delete();
    this.#events.changed();
    await this.#arm();
    return "removed";
  }

  /** Returns the run's own webhook URL; null when it has none. */
  webhookUrl(project: string): string | null {
    return this.#rows.get()?.project === project ? this.#mail.url() : null;
  }

  /** Makes a delivery of the run's events again, or returns what is missing for it. */
  replay(project: string, delivery_id: string): ReturnType<RunMail["replay"]> {
    return this.#mail.replay(project, delivery_id);
  }

  /** Delivers webhooks, starts the run, mirrors its record, watches over it and clears its files; retries what fails. */
  override async alarm(): Promise<void> {
    try {
      this.#mail.start();
      await this.#turn.ask();
      await this.#start();
      await this.#mirror();
      await this.#watch();
      await this.#cleanup();
      await this.#arm();
    } catch (thrown) {
      logFault("alarm failed", thrown, nameRun(this.ctx.id.name));
      await this.ctx.storage.setAlarm(Date.now() + ALARM_RETRY_MS);
    }
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
    const good = record.status === "succeeded";
    const ended = isFinished(record) ? { cleanup_at: good ? now : now + CLEANUPS_MS[0] } : {};
    this.ctx.storage.transactionSync(() => {
      this.#rows.update({ record, version, progressed_at: now, ...ended });
      this.#mail.note(record, before, version);
    });
    if (isFinished(record)) this.#listeners.end();
    this.#events.changed();
    await this.#arm();
    // Should it fail, the alarm does it.
    const leaving = isFinished(record) ? this.#turn.leave().catch(() => {}) : null;
    if (event.type !== "step_progressed") await this.#index(row.project, record, version);
    await leaving;
    return record;
  }

  // Lists are right at once where this succeeds; where it fails, the alarm writes the index with the mirror.
  async #index(project: string, record: Task | Step, version: number): Promise<void> {
    this.#indexing = this.#handOver(project, record, version).catch((thrown: unknown) => {
      logFault("index failed", thrown, nameRun(record.id));
    });
    await this.#indexing;
  }

  async #handOver(project: string, record: Task | Step, version: number): Promise<void> {
    const set = this.#mail.changes(record.id);
    const shipments = await this.env.PROJECT.getByName(project).put(record, version, set);
    this.#mail.handedOver(version, project, shipments);
    this.#indexed = Math.max(this.#indexed, version);
  }

  async #start(): Promise<void> {
    const row = this.#rows.get();
    if (!row || row.started || row.turn !== "goes_on" || isFinished(row.record)) return;
    await startInstance(this.env.RUN, row.record.id);
    this.#rows.update({ started: 1 });
  }

  async #mirror(): Promise<void> {
    const row = this.#rows.get();
    const now = Date.now();
    if (!row || row.mirrored >= row.version || now < row.mirrored_at + MIRROR_MS) return;
    const { project, record, version } = row;
    if (this.#indexed < version) await this.#handOver(project, record, version);
    await this.env.KV.put(mirrorKey(record), JSON.stringify({ project, record }));
    // It was deleted meanwhile, and so is what was just written.
    if (!this.#rows.get()) return this.#unmirror(project, record);
    this.#mail.forget();
    this.#rows.update({ mirrored: version, mirrored_at: now });
  }

  async #unmirror(project: string, record: Task | Step): Promise<void> {
    await this.env.PROJECT.getByName(project).remove(record.id);
    await this.env.KV.delete(mirrorKey(record));
  }

  async #watch(): Promise<void> {
    const row = this.#rows.get();
    if (!row) return;
    const finding = judgeRun(row, watchTimes(serviceSettings(this.env)), Date.now());
    if (finding === "well") return;
    if (finding === "stalled")
      return this.#fail("stalled", "The work made no progress for too long and was stopped.");
    const status = await instanceStatus(this.env.RUN, row.record.id);
    const ended = status === null || status === "errored" || status === "terminated" || status === "complete";
    // The record may have been finished while the status was asked for.
    const current = this.#rows.get();
    if (!current || isFinished(current.record)) return;
    if (ended || finding === "lost")
      return this.#fail("worker_lost", "The run was lost; create the task again.");
    // A run that waits its turn has nothing to say yet, however long that takes.
    const waits = status === "queued";
    if (!waits) await wakeInstance(this.env.RUN, row.record.id, status);
    const now = Date.now();
    this.#rows.update({ heard_at: now, progressed_at: now, wakes: waits ? 0 : row.wakes + 1 });
  }

  async #fail(kind: ErrorKind, message: string): Promise<void> {
    const row = this.#rows.get();
    if (row) await this.#apply(row, failureOf(row.record, kind, message));
  }

  async #cleanup(): Promise<void> {
    const row = this.#rows.get();
    const due = row && cleanupDue(row, this.#expires(row));
    if (!row || due === null || Date.now() < due) return;
    const most = CLEANUPS_MS.length;
    if (row.cleanups === most) {
      await clearMedia(this.#storage, row.record.id, ["out"]);
      this.#rows.update({ cleanups: EXPIRED });
      return;
    }
    const good = row.record.status === "succeeded";
    if (!good && row.cleanups > 0) await terminateInstance(this.env.RUN, row.record.id);
    await clearRun(this.env.MEDIA, row.record, this.#rows);
    const cleanups = good ? most : row.cleanups + 1;
    this.#rows.update({ cleanups, cleanup_at: Date.now() + (CLEANUPS_MS[cleanups] ?? 0) });
  }

  #expires({ record }: RunRow): number {
    return outputExpires(record, serviceSettings(this.env).MEDIA_TTL) * 1000;
  }

  // One alarm serves all: it is set to the earliest thing that is due.
  async #arm(): Promise<void> {
    const row = this.#rows.get();
    const now = Date.now();
    const due = [
      row && nextAlarm(row, watchTimes(serviceSettings(this.env)).watch, this.#expires(row), now),
      this.#mail.dueAt(),
    ];
    const times = due.filter((time) => time !== null);
    if (times.length > 0) await this.ctx.storage.setAlarm(Math.max(now, Math.min(...times)));
  }
}
