import { DurableObject, RpcTarget } from "cloudflare:workers";
import type { EncodeRequest } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import * as runErrors from "../../src/runs/errors.ts";
import type { JobHead } from "../../src/runs/job.ts";
import type { ByteRange } from "../../src/runs/ports.ts";
import { runErrorOf } from "../../src/runs/step.ts";
import { clearMedia } from "../../src/runs/steps/media-keys.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished, type TaskEnd } from "../../src/runs/transitions.ts";
import type { Pin } from "../../src/storage/pinned.ts";
import { settleAll } from "../../src/util/async.ts";
import { mediaBucket, mediaStorage } from "../env.ts";
import * as errors from "../errors.ts";
import { QUEUE_NAME } from "../limits/run-queue.ts";
import { logFault } from "../log.ts";
import { patiently } from "../network/durable-objects.ts";
import { createArchive, createJobArchive } from "../run/archive.ts";
import { createChanges } from "../run/events.ts";
import type { PinnedRun } from "../run/run-rows.ts";
import type { RunSetup } from "../run/runs.ts";
import { CLEANUPS_MS, createRunAlarm, LISTING_MS } from "../run/schedule.ts";
import { serviceSettings } from "../settings.ts";
import {
  isDone,
  isOver,
  isThere,
  type JobState,
  type NewJob,
  type Release,
  releasesOf,
  running,
  startJob,
} from "./job-state.ts";

const STATE = "state";
const ASK_MS = { first: 15_000, max: 600_000 } as const;
const FAULT_MS = 5000;

/**
 * One job: creates all of its tasks or none, blocks those that wait for another task's output, and keeps the shared input until the
 * last task is over. Derives the state of the job from its tasks.
 */
export class JobObject extends DurableObject<Bindings> {
  readonly #kv = this.ctx.storage.kv;
  readonly #lead = new JobLead();
  readonly #fetches = new JobFetches();
  readonly #alarm = createRunAlarm(this.ctx.storage, this.ctx.id.name, (pause) => this.#arm(pause));
  #settling: Promise<boolean> | null = null;

  /** Stores a job and creates its tasks; false when its project cannot list them all, which withdraws the job. */
  async create(job: NewJob): Promise<boolean> {
    const state = this.#read();
    if (!state || state.phase === "deleted") {
      this.#write(startJob(job));
      // If this object dies meanwhile, the alarm creates the rest.
      await this.ctx.storage.setAlarm(Date.now() + 2 * LISTING_MS);
    } else if (state.phase !== "creating") return state.phase !== "withdrawn";
    return this.#createTasks();
  }

  /** Returns the job and the ids of its tasks; null when the project has no such job. */
  async find(project: string): Promise<{ head: JobHead; tasks: string[] } | null> {
    const state = await this.#whole(project);
    return state && { head: state.head, tasks: state.tasks.map(({ id }) => id) };
  }

  /** Cancels the tasks that run or wait. */
  async cancel(project: string): Promise<"cancelled" | "unknown" | "finished"> {
    if (!(await this.#whole(project))) return "unknown";
    await this.#ask();
    const current = this.#of(project);
    if (!current) return "unknown";
    if (isOver(current)) return "finished";
    // From here on no task may start, even if this call fails.
    this.#write({ ...current, phase: "cancelled" });
    await this.ctx.storage.setAlarm(Date.now() + FAULT_MS);
    await this.#cancelTasks();
    await this.#arm();
    return "cancelled";
  }

  /** Removes the job, after its tasks. */
  async remove(project: string): Promise<void> {
    const state = this.#of(project);
    if (state) await this.#drop(state);
  }

  /** Records how a task ended. */
  async ended(task_id: string, ended: TaskEnd, output: string | null): Promise<void> {
    this.#end(task_id, ended, output);
    await this.#advance().finally(() => this.#arm());
  }

  /** The pin of the shared input. */
  get pin(): JobPin {
    return new JobPin(this.#pinned, (pin) => this.#change((state) => ({ ...state, pin })));
  }

  /** The lease of the shared input, which one task holds at a time. */
  get lead(): JobLead {
    return this.#lead;
  }

  /** The parts of the shared input that are being fetched. */
  get fetches(): JobFetches {
    return this.#fetches;
  }

  /** The shared input, as probed, and the outputs that the tasks make of it. */
  get known(): JobInput {
    return new JobInput(this.#read(), (source) => this.#change((state) => ({ ...state, source })));
  }

  /** Completes interrupted work, polls unfinished tasks, and clears the shared input after the last one. */
  override async alarm(): Promise<void> {
    const inPhase = (phase: JobState["phase"], duty: () => Promise<unknown>) => async () => {
      if (this.#read()?.phase === phase) await duty();
    };
    await this.#alarm.run({
      create: inPhase("creating", () => this.#createTasks()),
      withdraw: inPhase("withdrawn", () => this.#withdraw()),
      ask: () => this.#ask(),
      cancel: inPhase("cancelled", () => this.#cancelTasks()),
      advance: () => this.#advance(),
      clear: () => this.#clear(),
    });
  }

  readonly #pinned = (): PinnedRun | null => {
    const state = this.#read();
    if (!state?.pin || isOver(state)) return null;
    const { project, base, pin } = state;
    return { project, base, pin };
  };

  #read(): JobState | null {
    return this.#kv.get<JobState>(STATE) ?? null;
  }

  #of(project: string): JobState | null {
    const state = this.#read();
    return state?.project === project && isThere(state) ? state : null;
  }

  // A job is listed before all of its tasks exist; completing it first keeps callers from reading or cancelling half of it.
  async #whole(project: string): Promise<JobState | null> {
    if (this.#of(project)?.phase === "creating") await this.#createTasks();
    return this.#of(project);
  }

  #write(state: JobState): void {
    this.#kv.put(STATE, state);
  }

  #change(change: (state: JobState) => JobState): boolean {
    const state = this.#read();
    if (!state || isOver(state)) return false;
    this.#write(change(state));
    return true;
  }

  #createTasks(): Promise<boolean> {
    this.#settling ??= this.#createAll().finally(() => {
      this.#settling = null;
    });
    return this.#settling;
  }

  async #createAll(): Promise<boolean> {
    const state = this.#read();
    if (!state?.creating) return state !== null && state.phase !== "withdrawn";
    const { project, head } = state;
    const { tasks, made: setup, keys } = state.creating;
    const outcomes = await Promise.allSettled([
      patiently(() =>
        this.env.PROJECT.getByName(project).addJob(
          head,
          tasks.map(({ id }) => id),
        ),
      ),
      ...tasks.map(async (task) => {
        const own = { ...setup, sealed_key: keys[task.id], held: true };
        const create = () => this.env.TASK.getByName(task.id).create(project, task, own);
        if (!(await patiently(create))) throw errors.taskNotListed();
      }),
    ]);
    const current = this.#read();
    if (!current) return false;
    const all = outcomes.every(({ status }) => status === "fulfilled");
    if (current.phase === "creating")
      this.#write({ ...current, phase: all ? "stands" : "withdrawn", ...(all && { creating: null }) });
    if (all) await announceBlocked(this.env, project, tasks, setup);
    await (all ? this.#advance() : this.#withdraw().catch((thrown) => logFault("job not withdrawn", thrown)));
    await this.#arm();
    return all;
  }

  async #withdraw(): Promise<void> {
    const state = this.#read();
    if (!state) return;
    const { tasks } = state;
    await settleAll(tasks, ({ id }) => this.env.TASK.getByName(id).held.withdraw());
    await this.#drop(state);
  }

  async #drop({ project, head }: JobState): Promise<void> {
    await patiently(() => this.env.PROJECT.getByName(project).removeJob(head.id));
    const state = this.#read();
    if (state && state.phase !== "withdrawn" && state.cleared < CLEANUPS_MS.length) {
      this.#write({ ...state, phase: "deleted" });
      return this.#arm();
    }
    await clearMedia(mediaStorage(this.env), head.id, ["work"]);
    await this.ctx.storage.deleteAll();
  }

  async #cancelTasks(): Promise<void> {
    const state = this.#read();
    if (!state) return;
    await settleAll(running(state), async ({ id }) => {
      await this.env.TASK.getByName(id).cancel(state.project);
      this.#end(id, "cancelled", null);
    });
  }

  #end(task_id: string, ended: TaskEnd, output: string | null): void {
    const state = this.#read();
    if (!state) return;
    const tasks = state.tasks.map((task) => {
      if (task.id !== task_id || task.ended === "deleted") return task;
      return task.ended && ended !== "deleted" ? task : { ...task, ended, output };
    });
    this.#write({ ...state, tasks, asked: 0 });
    this.#lead.leave(task_id);
  }

  async #ask(): Promise<void> {
    const state = this.#read();
    if (!state || state.phase === "creating" || state.phase === "withdrawn") return;
    await settleAll(running(state), async ({ id }) => {
      const text = await this.env.TASK.getByName(id).read(state.project);
      const task: Task | null = text === null || text === "foreign" ? null : JSON.parse(text);
      if (!task) this.#end(id, "deleted", null);
      else if (isFinished(task)) this.#end(id, task.status as TaskEnd, task.output);
    });
    const current = this.#read();
    if (current) this.#write({ ...current, asked: current.asked + 1 });
  }

  async #advance(): Promise<void> {
    const before = this.#read();
    await settleAll(before ? releasesOf(before) : [], async (release) => {
      await releaseTask(this.env, release);
      const state = this.#read();
      if (!state) return;
      const tasks = state.tasks.map((each) => (each.id === release.id ? { ...each, released: true } : each));
      this.#write({ ...state, tasks });
    });
  }

  // Work may still write after its task has ended, so clear the files several times.
  async #clear(): Promise<void> {
    const state = this.#read();
    if (!state || !isOver(state)) return;
    if (isDone(state)) return this.#drop(state);
    if (isThere(state) && Date.now() >= this.#expires(state)) {
      const archive = createArchive(mediaBucket(this.env), state.project);
      await createJobArchive(archive).write(state, () => this.#of(state.project) !== null);
      return this.#drop(state);
    }
    if (state.cleared >= CLEANUPS_MS.length) return;
    await clearMedia(mediaStorage(this.env), state.head.id, ["work"]);
    if (state.cleared === 0)
      await this.env.PROJECT.getByName(state.project).connections.release(state.head.id);
    const current = this.#read();
    if (current) this.#write({ ...current, cleared: state.cleared + 1 });
  }

  #expires({ head }: JobState): number {
    const { RECORD_TTL, MEDIA_TTL } = serviceSettings(this.env);
    return head.created_at + Math.max(RECORD_TTL, MEDIA_TTL) * 1000;
  }

  async #arm(pause = 0): Promise<void> {
    const state = this.#read();
    if (!state) return;
    const now = Date.now();
    const askAt = now + Math.min(ASK_MS.first * 2 ** state.asked, ASK_MS.max);
    const clearAt = now + (CLEANUPS_MS[state.cleared] ?? Number.POSITIVE_INFINITY);
    const clearingAt = isDone(state) ? now : Math.min(clearAt, this.#expires(state));
    const due = state.phase === "withdrawn" ? now + FAULT_MS : isOver(state) ? clearingAt : askAt;
    await this.ctx.storage.setAlarm(pause > 0 ? now + pause : due);
  }
}

/**
 * Publishes the tasks that wait for another task's output, and counts them as waiting in the queue. Never rejects: an event that fails
 * here goes out when its task is released.
 */
async function announceBlocked(
  env: Bindings,
  project: string,
  tasks: readonly Task[],
  { key_id }: RunSetup,
): Promise<void> {
  const blocked = tasks.filter(({ job }) => job?.after !== undefined);
  if (blocked.length === 0) return;
  const outcomes = await Promise.allSettled([
    patiently(() =>
      env.QUEUE.getByName(QUEUE_NAME).hold(blocked.map(({ id }) => ({ run_id: id, project, key_id }))),
    ),
    ...blocked.map(({ id }) => patiently(() => env.TASK.getByName(id).held.announce())),
  ]);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") logFault("task not held", outcome.reason, { project });
}

/** Releases a task with its input, or fails it when the task before it did not succeed. */
async function releaseTask(env: Bindings, release: Release): Promise<void> {
  const run = () => env.TASK.getByName(release.id).held;
  if ("input" in release) {
    await patiently(() => run().release(release.input));
    return;
  }
  const { after, ended } = release;
  const error = runErrorOf(runErrors.inputTaskEnded({ task: after, ended }));
  await patiently(() => run().fail(error));
}

const LEASE_MS = 30_000;

/** A lease of the shared input for one task at a time. It is not stored: after a restart, the input is at worst read twice. */
class JobLead extends RpcTarget {
  readonly #changes = createChanges();
  #holder: { task_id: string; until: number } | null = null;

  /** Takes or extends the lease; false when another task still holds it after `ms`. */
  async take(task_id: string, ms: number): Promise<boolean> {
    const isLeased = () =>
      this.#holder !== null && this.#holder.task_id !== task_id && Date.now() < this.#holder.until;
    const end = Date.now() + ms;
    while (isLeased() && Date.now() < end) await this.#changes.wait(end - Date.now());
    if (isLeased()) return false;
    this.#holder = { task_id, until: Date.now() + LEASE_MS };
    return true;
  }

  /** Ends a task's lease. */
  leave(task_id: string): void {
    if (this.#holder?.task_id !== task_id) return;
    this.#holder = null;
    this.#changes.tell();
  }
}

const FETCH_MS = 15_000;
/** How often a reader that still fetches extends its turn. */
export const STAY_MS = FETCH_MS / 3;

/** The ranges of the shared input that are being fetched, each by one reader. Not stored, like {@link JobLead}. */
class JobFetches extends RpcTarget {
  readonly #changes = createChanges();
  readonly #open = new Map<number, ByteRange & { until: number }>();
  // Readers from before a restart of this object may still call, so the numbers must differ from the earlier ones.
  #last = Date.now() * 1000;

  /** Assigns a range to the caller and returns the number to `leave` with; null, once others have fetched a part of it. */
  async take({ start, end }: ByteRange): Promise<number | null> {
    const others = [...this.#open].filter(([, other]) => other.start < end && start < other.end);
    const pending = () => others.filter(([id, { until }]) => this.#open.has(id) && Date.now() < until);
    if (pending().length === 0) {
      for (const [id] of others) this.#open.delete(id);
      this.#open.set(++this.#last, { start, end, until: Date.now() + FETCH_MS });
      return this.#last;
    }
    for (let open = pending(); open.length > 0; open = pending())
      await this.#changes.wait(Math.min(...open.map(([, { until }]) => until)) - Date.now());
    return null;
  }

  /** Extends a turn. */
  stay(id: number): void {
    const fetch = this.#open.get(id);
    if (fetch) fetch.until = Date.now() + FETCH_MS;
  }

  /** Ends a turn. */
  leave(id: number): void {
    this.#open.delete(id);
    this.#changes.tell();
  }
}

/** The version of the input that the tasks of a job read, stored until the last of them is over. */
class JobPin extends RpcTarget {
  readonly #get: () => PinnedRun | null;
  readonly #set: (pin: Pin) => boolean;

  constructor(get: () => PinnedRun | null, set: (pin: Pin) => boolean) {
    super();
    this.#get = get;
    this.#set = set;
  }

  /** Pins the input; false when the job is over. */
  set(pin: Pin): boolean {
    return this.#set(pin);
  }

  /** Returns the pin; null when there is none or the job is over. */
  get(): PinnedRun | null {
    return this.#get();
  }
}

/** The shared input of a job's tasks, as probed. */
class JobInput extends RpcTarget {
  readonly #state: JobState | null;
  readonly #keep: (source: Source) => boolean;

  constructor(state: JobState | null, keep: (source: Source) => boolean) {
    super();
    this.#state = state;
    this.#keep = keep;
  }

  get(): Source | null {
    return this.#state?.source ?? null;
  }

  /** Returns the requests of the other tasks that read it. */
  beside(task_id: string): EncodeRequest[] {
    const tasks = this.#state?.tasks ?? [];
    return tasks.flatMap(({ id, wanted }) => (wanted && id !== task_id ? [wanted] : []));
  }

  /** Stores the probed input for the other tasks. */
  keep(source: Source): void {
    this.#keep(source);
  }
}
