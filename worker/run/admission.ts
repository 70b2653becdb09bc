import { RpcTarget } from "cloudflare:workers";
import type { RunError, Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { failOpenStep, isFinished, type RunEvent } from "../../src/runs/transitions.ts";
import type { Load, QueuedRun } from "../limits/run-queue.ts";
import type { RunWebhooks } from "../webhooks/run-webhooks.ts";
import type { RunMirror } from "./run-mirror.ts";
import type { RunRows } from "./run-rows.ts";
import type { RunSetup } from "./runs.ts";
import { ASK_MS, isBlocked, MIRROR_MS, type RunRow } from "./schedule.ts";

/** Creates a run: stored and listed, or not at all. */
interface Admission {
  /** Stores a new record and lists it; false when its project cannot list it, which withdraws the record. */
  admit(project: string, record: Task | Step, setup: RunSetup): Promise<boolean>;
  /** Resolves when no admission is in progress. */
  idle(): Promise<void>;
  /** Removes the rest of a withdrawn run, here and in its project, which may have listed it although its response was lost. */
  withdraw(): Promise<void>;
  /** Withdraws a run that is still blocked; the alarm does the rest. */
  refuse(): Promise<void>;
  /** Publishes a blocked run once its job exists: its events go out from now on. */
  announce(): Promise<void>;
  /** Lets a blocked run enter the queue, with the input that it waited for; false when it is not blocked. */
  release(input: string | null): Promise<boolean>;
}

/** Dependencies of {@link createAdmission}. */
export interface AdmissionTools {
  storage: Pick<DurableObjectStorage, "transactionSync">;
  rows: RunRows;
  webhooks: RunWebhooks;
  mirror: RunMirror;
  /** Removes the run from the index of a project. */
  unlist(project: string): Promise<void>;
  /** Sets the alarm to a time in milliseconds since the epoch. */
  arm(at: number): Promise<void>;
  /** Sets the alarm to what is due next. */
  rearm(): Promise<void>;
}

/** Creates the {@link Admission} of one object's run. */
export function createAdmission(tools: AdmissionTools): Admission {
  const { storage, rows, webhooks, mirror, unlist, arm, rearm } = tools;
  let admitting: Promise<boolean> | null = null;

  async function withdraw(): Promise<void> {
    const project = rows.withdrawn();
    if (project === null) return;
    await unlist(project);
    rows.delete();
  }

  async function admitOnce(project: string, record: Task | Step, setup: RunSetup): Promise<boolean> {
    await withdraw();
    const { base, key_id, webhook_url, sealed_key, held } = setup;
    const row = rows.get();
    if (row && row.turn !== "none" && !isBlocked(row)) return true;
    const now = Date.now();
    if (!row) {
      storage.transactionSync(() => {
        rows.insert({ project, base, record, key_id }, now);
        if (sealed_key !== undefined) rows.setKey(sealed_key);
        if (held) rows.setTurn("creating");
        if (webhook_url !== undefined) webhooks.setUrl(webhook_url);
        webhooks.note(record, null, 1);
      });
      // The alarm writes the mirror, and restarts the admission if this object dies before the run begins.
      await arm(now + MIRROR_MS);
    }
    if (await mirror.list(project, record)) return true;
    await refuse();
    return false;
  }

  async function refuse(): Promise<void> {
    storage.transactionSync(() => {
      rows.setTurn("withdrawn");
      webhooks.discard();
    });
    await rearm();
  }

  return {
    async idle() {
      await admitting?.catch(() => {});
    },
    withdraw,
    async refuse() {
      const row = rows.get();
      if (row && isBlocked(row)) await refuse();
    },
    async announce() {
      const row = rows.get();
      if (row?.turn !== "creating") return;
      storage.transactionSync(() => {
        rows.setTurn("held");
        // The mirror then hands over the events.
        rows.update({ version: row.version + 1 });
      });
      await rearm();
    },
    async release(input) {
      const row = rows.get();
      if (!row || !isBlocked(row) || row.record.object !== "task" || isFinished(row.record)) return false;
      const record = { ...row.record, input: input ?? row.record.input };
      storage.transactionSync(() => {
        rows.update({ record, version: row.version + 1 });
        rows.setTurn("none");
      });
      // The job releases it only once; the alarm starts it if this object dies first.
      await arm(Date.now() + MIRROR_MS);
      return true;
    },
    admit(project, record, setup) {
      admitting ??= admitOnce(project, record, setup).finally(() => {
        admitting = null;
      });
      return admitting;
    },
  };
}

/** Dependencies of {@link BlockedRun}. */
export interface BlockedRunTools {
  rows: RunRows;
  admission: Admission;
  apply(row: RunRow, event: RunEvent): Promise<unknown>;
  changed(): void;
  /** Lets the run enter the queue. */
  enter(): void;
}

/** A run that its job blocks; once it is released, the methods do nothing. */
export class BlockedRun extends RpcTarget {
  readonly #tools: BlockedRunTools;

  constructor(tools: BlockedRunTools) {
    super();
    this.#tools = tools;
  }

  /** Publishes the run, once its job exists. */
  async announce(): Promise<void> {
    await this.#tools.admission.announce();
  }

  /** Lets the run enter the queue, with the input that it waited for; null leaves the input unchanged. */
  async release(input: string | null): Promise<void> {
    if (!(await this.#tools.admission.release(input))) return;
    this.#tools.changed();
    this.#tools.enter();
  }

  /** Fails the run. */
  async fail(error: Omit<RunError, "step_id">): Promise<void> {
    const row = this.#tools.rows.get();
    if (row && isBlocked(row)) await this.#tools.apply(row, failOpenStep(row.record, error));
  }

  /** Removes the run as if it had never been created. */
  async withdraw(): Promise<void> {
    await this.#tools.admission.refuse();
  }
}

/** The position of one run in the queues for light and heavy work. */
export interface RunTurn {
  /** Enters the queue, or leaves it when the run is over; does nothing when that is done. */
  ask(): Promise<void>;
  /** Accepts a slot from the queue; false when the run is over. */
  take(): boolean;
  /** Exchanges the slot for light work for one for heavy work; false when the run has to wait, null when it is over. */
  askHeavy(): Promise<boolean | null>;
  /** Accepts a slot for heavy work; false when the run is over. */
  takeHeavy(): boolean;
  /** Leaves the queues, even if it is unknown whether the run entered. */
  leave(): Promise<void>;
}

/** The queue's methods that a run calls. */
export interface TurnQueue {
  enter(run: QueuedRun, load?: Load): Promise<boolean>;
  leave(run_id: string): Promise<void>;
}

/** Creates {@link RunTurn} for the run in these rows. */
export function createRunTurn(rows: RunRows, queue: () => TurnQueue): RunTurn {
  function start(turn: "goes_on" | "heavy" = "goes_on"): void {
    const now = Date.now();
    rows.setTurn(turn);
    rows.update({ heard_at: now, progressed_at: now });
  }

  async function leave(): Promise<void> {
    const row = rows.get();
    if (!row || row.turn === "over") return;
    await queue().leave(row.record.id);
    rows.setTurn("over");
  }

  return {
    leave,
    async ask() {
      const row = rows.get();
      if (!row) return;
      const { project, key_id, turn, record } = row;
      if (isFinished(record)) return leave();
      const asks = turn === "none" || (turn === "waits" && Date.now() >= row.heard_at + ASK_MS);
      if (!asks) return;
      const goes_on = await queue().enter({ run_id: record.id, project, key_id });
      const current = rows.get();
      // The queue may have granted a slot meanwhile.
      if (!current || (current.turn !== "none" && current.turn !== "waits")) return;
      if (goes_on) return start();
      rows.setTurn("waits");
      rows.update({ heard_at: Date.now() });
    },
    take() {
      const row = rows.get();
      if (!row || isFinished(row.record)) return false;
      if (row.turn === "none" || row.turn === "waits") start();
      return true;
    },
    async askHeavy() {
      const row = rows.get();
      if (!row || isFinished(row.record)) return null;
      if (row.turn === "heavy") return true;
      const { project, key_id, record } = row;
      rows.setTurn("heavy_waits");
      const goes_on = await queue().enter({ run_id: record.id, project, key_id }, "heavy");
      const current = rows.get();
      if (!current || isFinished(current.record)) return null;
      if (goes_on) start("heavy");
      return goes_on || current.turn === "heavy";
    },
    takeHeavy() {
      const row = rows.get();
      if (!row || isFinished(row.record)) return false;
      if (row.turn !== "heavy") start("heavy");
      return true;
    },
  };
}
