import { DurableObject } from "cloudflare:workers";
import type { Step } from "../../src/runs/step.ts";
import { clearMedia } from "../../src/runs/steps/media-keys.ts";
import type { Task } from "../../src/runs/task.ts";
import { applyToStep, applyToTask, isFinished, type RunEvent } from "../../src/runs/transitions.ts";
import { mediaStorage } from "../env.ts";
import { deleteInstance, startInstance, wakeInstance } from "../instance.ts";
import { HeldRun } from "../jobs/held-run.ts";
import { reportEnd } from "../jobs/report-end.ts";
import { QUEUE_NAME } from "../limits/queue-name.ts";
import { createRunTurn } from "../limits/run-turn.ts";
import { patiently } from "../network/retry-object-call.ts";
import { logFault, nameRun } from "../observability/log.ts";
import { serviceSettings } from "../settings/service-settings.ts";
import { createRunMail, type RunMail } from "../webhooks/run-mail.ts";
import { createAdmission } from "./admission.ts";
import { cleanUp, clearLeftovers, leftAfter } from "./clear-run.ts";
import { createRunAlarm } from "./run-alarm.ts";
import { createRunEvents } from "./run-events.ts";
import { createRunListeners } from "./run-listeners.ts";
import { createRunMirror } from "./run-mirror.ts";
import { RunPin } from "./run-pin.ts";
import type { RunRow } from "./run-row.ts";
import { createRunRows } from "./run-rows.ts";
import type { Made } from "./runs.ts";
import { CLEANUPS_MS, nextAlarm, outputExpires } from "./schedule.ts";
import { watchTimes } from "./watch/watch.ts";
import { watchRun } from "./watch/watch-run.ts";

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
