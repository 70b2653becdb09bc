import { DurableObject } from "cloudflare:workers";
import { logFault, nameRun } from "../log.ts";
import { type ServiceSettings, serviceSettings } from "../settings.ts";
import { createRunQueue, LOADS, type Load, type QueuedRun, type RunQueue } from "./run-queue.ts";

const CHECK_MS = 300_000;
const RETRY_MS = 1000;
const HEAVY_RUNS = { container: 8, address: 16 } as const;
const CALLS = { light: "go", heavy: "goHeavy" } as const satisfies Record<Load, string>;

/**
 * The queues of all runs of the service, one for light and one for heavy work. A single object shares the slots fairly between projects.
 * A run calls it two or three times, so it handles several times as many runs as Workflows can start.
 */
export class QueueObject extends DurableObject<Bindings> {
  readonly #queues: Readonly<Record<Load, RunQueue>>;
  #alarm: number | null = null;

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    const settings = serviceSettings(bindings);
    const { MAX_RUNNING: per_project, MAX_RUNNING_TOTAL: total } = settings;
    const { sql } = ctx.storage;
    const heavy = heavyRuns(settings);
    // A film may take an hour. Half of the slots stay free for other projects, which then wait for a chunk to end, not for a film.
    const heavy_per_project = Math.min(per_project, Math.ceil(heavy / 2));
    this.#queues = {
      light: createRunQueue(sql, { per_project, total }, "light"),
      heavy: createRunQueue(sql, { per_project: heavy_per_project, total: heavy }, "heavy"),
    };
  }

  /** Adds a run; true if it has a slot now, otherwise its TaskObject is notified later. A run that enters for heavy work gives up its light slot. */
  async enter(run: QueuedRun, load: Load = "light"): Promise<boolean> {
    const { light } = this.#queues;
    const now = Date.now();
    if (load === "heavy") {
      light.leave(run.run_id);
      light.fill(now);
    }
    const goes_on = this.#queues[load].enter(run, now);
    await this.#arm();
    return goes_on;
  }

  /** Counts blocked runs as waiting, until each enters or leaves. */
  async hold(runs: readonly QueuedRun[]): Promise<void> {
    for (const run of runs) this.#queues.light.hold(run, Date.now());
    await this.#arm();
  }

  /** Removes a run and assigns its slot to a waiting one. */
  async leave(run_id: string): Promise<void> {
    for (const load of LOADS) {
      this.#queues[load].leave(run_id);
      this.#queues[load].fill(Date.now());
    }
    await this.#arm();
  }

  /** Returns how many runs of a project wait to begin, including blocked ones. */
  waiting(project: string): number {
    return this.#queues.light.waiting(project);
  }

  /** Notifies runs that have a slot, and removes those that are over. */
  override async alarm(): Promise<void> {
    this.#alarm = null;
    const settled = await Promise.all(LOADS.map((load) => this.#look(this.#queues[load], CALLS[load])));
    await this.#arm(settled.includes(false) ? RETRY_MS : 0);
  }

  async #look(queue: RunQueue, turn: (typeof CALLS)[Load]): Promise<boolean> {
    const now = Date.now();
    queue.fill(now);
    let failed = false;
    const ask = async (run_id: string, call: typeof turn | "goesOn") => {
      try {
        const goes_on = await this.env.TASK.getByName(run_id)[call]();
        if (!goes_on) queue.leave(run_id);
        else if (call === "goesOn") queue.markSeen(run_id, now);
        else queue.markNotified(run_id);
      } catch (thrown) {
        failed = true;
        logFault("no turn told", thrown, nameRun(run_id));
      }
    };
    await Promise.all([
      ...queue.toNotify().map((run_id) => ask(run_id, turn)),
      ...queue.toCheck(now - CHECK_MS).map((run_id) => ask(run_id, "goesOn")),
    ]);
    queue.fill(now);
    return !failed;
  }

  async #arm(pause = 0): Promise<void> {
    const now = Date.now();
    const queues = Object.values(this.#queues);
    const hasNews = queues.some((queue) => queue.toNotify().length > 0);
    const due = hasNews ? now + pause : queues.some((queue) => queue.isBusy()) ? now + CHECK_MS : null;
    this.#alarm ??= await this.ctx.storage.getAlarm();
    if (due === null || (this.#alarm !== null && this.#alarm <= due)) return;
    this.#alarm = due;
    await this.ctx.storage.setAlarm(due);
  }
}

function heavyRuns({
  MAX_HEAVY_TOTAL,
  NATIVE_ENCODER_URL: urls = [],
  NATIVE_INSTANCES,
}: ServiceSettings): number {
  if (MAX_HEAVY_TOTAL !== undefined) return MAX_HEAVY_TOTAL;
  const { container, address } = HEAVY_RUNS;
  return Math.max(1, urls.length > 0 ? urls.length * address : NATIVE_INSTANCES * container);
}
