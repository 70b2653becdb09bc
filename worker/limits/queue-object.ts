import { DurableObject } from "cloudflare:workers";
import { logFault, nameRun } from "../observability/log.ts";
import { serviceSettings } from "../settings/service-settings.ts";
import { createRunQueue, type QueuedRun, type RunQueue } from "./run-queue.ts";

// How often to check that running tasks are alive; dead ones free their slots.
const CHECK_MS = 300_000;
const RETRY_MS = 1000;

/**
 * The queue of all runs of the service: one object, because what is shared fairly between projects is known in one place. A run
 * comes here twice, beside its requests; what an object bears is several times what the engine starts.
 */
export class QueueObject extends DurableObject<Bindings> {
  readonly #queue: RunQueue;
  #alarm: number | null = null;

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    const { MAX_RUNNING: per_key, MAX_RUNNING_TOTAL: total } = serviceSettings(bindings);
    this.#queue = createRunQueue(ctx.storage.sql, { per_key, total });
  }

  /** Accepts a run; returns true if it may proceed now, else notifies its TaskObject later. */
  async enter(run: QueuedRun): Promise<boolean> {
    const goes_on = this.#queue.enter(run, Date.now());
    await this.#arm();
    return goes_on;
  }

  /** Passes the slot of a run to one that waits. */
  async leave(run_id: string): Promise<void> {
    this.#queue.leave(run_id);
    this.#queue.fill(Date.now());
    await this.#arm();
  }

  /** Returns how many runs of a key wait. */
  waiting(key_id: string): number {
    return this.#queue.waiting(key_id);
  }

  /** Notifies runs of their turn, and forgets those that are over. */
  override async alarm(): Promise<void> {
    this.#alarm = null;
    const now = Date.now();
    this.#queue.fill(now);
    let failed = false;
    const ask = async (run_id: string, call: "go" | "goesOn") => {
      try {
        const goes_on = await this.env.TASK.getByName(run_id)[call]();
        if (!goes_on) this.#queue.leave(run_id);
        else if (call === "go") this.#queue.told(run_id);
        else this.#queue.seen(run_id, now);
      } catch (thrown) {
        failed = true;
        logFault("no turn told", thrown, nameRun(run_id));
      }
    };
    await Promise.all([
      ...this.#queue.untold().map((run_id) => ask(run_id, "go")),
      ...this.#queue.unseen(now - CHECK_MS).map((run_id) => ask(run_id, "goesOn")),
    ]);
    this.#queue.fill(now);
    await this.#arm(failed ? RETRY_MS : 0);
  }

  async #arm(pause = 0): Promise<void> {
    const now = Date.now();
    const due = this.#queue.untold().length > 0 ? now + pause : this.#queue.isBusy() ? now + CHECK_MS : null;
    this.#alarm ??= await this.ctx.storage.getAlarm();
    if (due === null || (this.#alarm !== null && this.#alarm <= due)) return;
    this.#alarm = due;
    await this.ctx.storage.setAlarm(due);
  }
}
