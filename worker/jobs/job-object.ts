import { DurableObject, RpcTarget } from "cloudflare:workers";
import type { EncodeRequest } from "../../src/media/options.ts";
import { errorFor } from "../../src/media/reasons.ts";
import type { Source } from "../../src/media/source.ts";
import type { JobHead, TaskEnd } from "../../src/runs/job.ts";
import type { ByteRange } from "../../src/runs/ports.ts";
import { runErrorOf } from "../../src/runs/step.ts";
import { clearMedia } from "../../src/runs/steps/media-keys.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import type { Pin } from "../../src/storage/pinned.ts";
import { everyOne } from "../../src/util/async.ts";
import { mediaBucket, mediaStorage } from "../env.ts";
import { errors } from "../errors.ts";
import { QUEUE_NAME } from "../limits/run-queue.ts";
import { patiently } from "../network/durable-objects.ts";
import { logFault } from "../observability/log.ts";
import { createArchive, createJobArchive } from "../run/archive.ts";
import { createChanges } from "../run/events.ts";
import type { RunPinned } from "../run/run-rows.ts";
import { CLEANUPS_MS, createRunAlarm, LISTING_MS } from "../run/schedule.ts";
import { serviceSettings } from "../settings/read.ts";
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
// Tasks say when they end; this is for a word that was lost. Asked again ever later.
const ASK_MS = { first: 15_000, most: 600_000 } as const;
const FAULT_MS = 5000;

/**
 * One job: creates its tasks, all or none, holds those back whose input is yet to come, and keeps what they share of their input
 * until the last of them is over. The state of the job is that of its tasks, which are asked for it.
 */
export class JobObject extends DurableObject<Bindings> {
  readonly #kv = this.ctx.storage.kv;
  readonly #lead = new JobLead();
  readonly #fetches = new JobFetches();
  readonly #alarm = createRunAlarm(this.ctx.storage, this.ctx.id.name, (pause) => this.#arm(pause));
  #settling: Promise<boolean> | null = null;

  /** Stores a job and creates its tasks; false when its project cannot list them: then nothing is left of it. */
  async create(job: NewJob): Promise<boolean> {
    const found = this.#read();
    if (!found || found.phase === "deleted") {
      this.#write(startJob(job));
      // Should this object die meanwhile, the rest is created then.
      await this.ctx.storage.setAlarm(Date.now() + 2 * LISTING_MS);
    } else if (found.phase !== "creating") return found.phase !== "withdrawn";
    return this.#createTasks();
  }

  /** Returns the job and the ids of its tasks; null for another project or no job. */
  async find(project: string): Promise<{ head: JobHead; tasks: string[] } | null> {
    const state = await this.#whole(project);
    return state && { head: state.head, tasks: state.tasks.map(({ id }) => id) };
  }

  /** Cancels what still runs or waits. */
  async cancel(project: string): Promise<"cancelled" | "unknown" | "finished"> {
    if (!(await this.#whole(project))) return "unknown";
    await this.#ask();
    const current = this.#of(project);
    if (!current) return "unknown";
    if (isOver(current)) return "finished";
    // No task may start from here on, even if this call fails.
    this.#write({ ...current, phase: "cancelled" });
    await this.ctx.storage.setAlarm(Date.now() + FAULT_MS);
    await this.#cancelTasks();
    await this.#arm();
    return "cancelled";
  }

  /** Removes the job, whose tasks are gone. */
  async remove(project: string): Promise<void> {
    const state = this.#of(project);
    if (state) await this.#drop(state);
  }

  /** Takes note of how a task ended. */
  async ended(task_id: string, ended: TaskEnd, output: string | null): Promise<void> {
    this.#end(task_id, ended, output);
    // Where a task cannot be released now, the alarm does it soon.
    await this.#advance().finally(() => this.#arm());
  }

  /** The pin of the shared input. */
  get pin(): JobPin {
    return new JobPin(this.#pinned, (pin) => this.#change((state) => ({ ...state, pin })));
  }

  /** Which task has the shared input to itself. */
  get lead(): JobLead {
    return this.#lead;
  }

  /** Which parts of the shared input are being fetched. */
  get fetches(): JobFetches {
    return this.#fetches;
  }

  /** What the tasks know of the shared input. */
  get known(): JobKnown {
    return new JobKnown(this.#read(), (source) => this.#change((state) => ({ ...state, source })));
  }

  /** Completes what was interrupted, asks the tasks that are not known to be over, and clears the shared input after the last one. */
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

  readonly #pinned = (): RunPinned | null => {
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

  // A job that is being created is listed before all its tasks are there: it is neither read nor cancelled by halves.
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

  // One at a time: a repeated call waits for the first.
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
    const { tasks, made, keys } = state.creating;
    const listed = await Promise.allSettled([
      patiently(() =>
        this.env.PROJECT.getByName(project).addJob(
          head,
          tasks.map(({ id }) => id),
        ),
      ),
      ...tasks.map(async (task) => {
        const own = { ...made, sealed_key: keys[task.id], held: true };
        const create = () => this.env.TASK.getByName(task.id).create(project, task, own);
        if (!(await patiently(create))) throw errors.taskNotListed();
      }),
    ]);
    const current = this.#read();
    if (!current) return false;
    const all = listed.every(({ status }) => status === "fulfilled");
    if (current.phase === "creating")
      this.#write({ ...current, phase: all ? "stands" : "withdrawn", ...(all && { creating: null }) });
    if (all) await holdTasks(this.env, project, tasks, made);
    await (all ? this.#advance() : this.#withdraw().catch((thrown) => logFault("job not withdrawn", thrown)));
    await this.#arm();
    return all;
  }

  async #withdraw(): Promise<void> {
    const state = this.#read();
    if (!state) return;
    const { tasks } = state;
    await everyOne(tasks, ({ id }) => this.env.TASK.getByName(id).held.withdraw());
    await this.#drop(state);
  }

  // A job that had begun stays, hidden, until its files have been cleared often enough.
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
    await everyOne(running(state), async ({ id }) => {
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

  // Reads how the tasks stand that are not known to be over.
  async #ask(): Promise<void> {
    const state = this.#read();
    if (!state || state.phase === "creating" || state.phase === "withdrawn") return;
    await everyOne(running(state), async ({ id }) => {
      const text = await this.env.TASK.getByName(id).read(state.project);
      const task: Task | null = text === null || text === "foreign" ? null : JSON.parse(text);
      if (!task) this.#end(id, "deleted", null);
      else if (isFinished(task)) this.#end(id, task.status as TaskEnd, task.output);
    });
    const asked = this.#read();
    if (asked) this.#write({ ...asked, asked: asked.asked + 1 });
  }

  // Lets tasks run, or fail, whose waiting is over.
  async #advance(): Promise<void> {
    const before = this.#read();
    await everyOne(before ? releasesOf(before) : [], async (release) => {
      await releaseTask(this.env, release);
      const state = this.#read();
      if (!state) return;
      const tasks = state.tasks.map((each) => (each.id === release.id ? { ...each, released: true } : each));
      this.#write({ ...state, tasks });
    });
  }

  // What still runs when its task ends may write a little longer, so it is cleared several times.
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
    // It may have been removed meanwhile, or a task of it.
    const current = this.#read();
    if (current) this.#write({ ...current, cleared: state.cleared + 1 });
  }

  // A job is listed as long as its tasks are.
  #expires({ head }: JobState): number {
    const { RECORD_TTL, MEDIA_TTL } = serviceSettings(this.env);
    return head.created_at + Math.max(RECORD_TTL, MEDIA_TTL) * 1000;
  }

  // After a failure, after `pause` milliseconds.
  async #arm(pause = 0): Promise<void> {
    const state = this.#read();
    if (!state) return;
    const now = Date.now();
    const asks = Math.min(ASK_MS.first * 2 ** state.asked, ASK_MS.most);
    const clears = now + (CLEANUPS_MS[state.cleared] ?? Number.POSITIVE_INFINITY);
    const over = isDone(state) ? now : Math.min(clears, this.#expires(state));
    const due = state.phase === "withdrawn" ? now + FAULT_MS : isOver(state) ? over : now + asks;
    await this.ctx.storage.setAlarm(pause > 0 ? now + pause : due);
  }
}

/**
 * Publishes the tasks of a job that stands and waits for an output of its own, and counts them as waiting in the queue. Never
 * rejects: an event that fails here goes out when its task is released.
 */
async function holdTasks(
  env: Bindings,
  project: string,
  tasks: readonly Task[],
  made: NewJob["made"],
): Promise<void> {
  const held = tasks.filter(({ job }) => job?.after !== undefined);
  if (held.length === 0) return;
  const { key_id } = made;
  const outcomes = await Promise.allSettled([
    patiently(() =>
      env.QUEUE.getByName(QUEUE_NAME).hold(held.map(({ id }) => ({ run_id: id, project, key_id }))),
    ),
    ...held.map(({ id }) => patiently(() => env.TASK.getByName(id).held.announce())),
  ]);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") logFault("task not held", outcome.reason, { project });
}

/** Lets a task run with its input, or fails it by how the one before it ended. */
async function releaseTask(env: Bindings, release: Release): Promise<void> {
  const held = () => env.TASK.getByName(release.id).held;
  if ("input" in release) {
    await patiently(() => held().release(release.input));
    return;
  }
  const { after, ended } = release;
  const error = runErrorOf(errorFor("input_not_found", { code: "after", task: after, ended }));
  await patiently(() => held().fail(error));
}

// How long a task keeps the input to itself without a further sign of life.
const LEAD_MS = 30_000;

/** Which task of a job has the shared input to itself. Nothing of it is stored: a second reader would only read it twice. */
class JobLead extends RpcTarget {
  readonly #changes = createChanges();
  #holder: { task_id: string; until: number } | null = null;

  /** Takes it for a while, which each further call extends; false when another task still has it after `ms`. */
  async take(task_id: string, ms: number): Promise<boolean> {
    const taken = () =>
      this.#holder !== null && this.#holder.task_id !== task_id && Date.now() < this.#holder.until;
    const end = Date.now() + ms;
    while (taken() && Date.now() < end) await this.#changes.wait(end - Date.now());
    if (taken()) return false;
    this.#holder = { task_id, until: Date.now() + LEAD_MS };
    return true;
  }

  /** Ends what `take` began. */
  leave(task_id: string): void {
    if (this.#holder?.task_id !== task_id) return;
    this.#holder = null;
    this.#changes.tell();
  }
}

// A reader that has not come back by then is gone.
const FETCH_MS = 15_000;
/** How often a reader that still fetches extends its turn. */
export const STAY_MS = FETCH_MS / 3;

/** Which ranges of the shared input are being fetched, each by one reader. Nothing of it is stored, as of {@link JobLead}. */
class JobFetches extends RpcTarget {
  readonly #changes = createChanges();
  readonly #open = new Map<number, ByteRange & { until: number }>();
  // No number of an earlier life of the object, whose readers may still leave.
  #last = Date.now() * 1000;

  /** Lets the caller fetch a range and returns the number to `leave` with; null once others, who were fetching parts of it, are done. */
  async take({ start, end }: ByteRange): Promise<number | null> {
    const others = [...this.#open].filter(([, other]) => other.start < end && start < other.end);
    const goOn = () => others.filter(([id, { until }]) => this.#open.has(id) && Date.now() < until);
    if (goOn().length === 0) {
      for (const [id] of others) this.#open.delete(id);
      this.#open.set(++this.#last, { start, end, until: Date.now() + FETCH_MS });
      return this.#last;
    }
    for (let left = goOn(); left.length > 0; left = goOn())
      await this.#changes.wait(Math.min(...left.map(([, { until }]) => until)) - Date.now());
    return null;
  }

  /** Extends what `take` began. */
  stay(id: number): void {
    const fetch = this.#open.get(id);
    if (fetch) fetch.until = Date.now() + FETCH_MS;
  }

  /** Ends what `take` began. */
  leave(id: number): void {
    this.#open.delete(id);
    this.#changes.tell();
  }
}

/** The version at which the tasks of a job read their input, kept until the last of them is over. */
class JobPin extends RpcTarget {
  readonly #get: () => RunPinned | null;
  readonly #set: (pin: Pin) => boolean;

  constructor(get: () => RunPinned | null, set: (pin: Pin) => boolean) {
    super();
    this.#get = get;
    this.#set = set;
  }

  /** Pins the input; false when the job is over. */
  set(pin: Pin): boolean {
    return this.#set(pin);
  }

  /** Returns the pin; null when there is none or the job is over. */
  get(): RunPinned | null {
    return this.#get();
  }
}

/** What the tasks of a job know of the input that they share. */
class JobKnown extends RpcTarget {
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

  /** Returns what the other tasks make of it. */
  beside(task_id: string): EncodeRequest[] {
    const tasks = this.#state?.tasks ?? [];
    return tasks.flatMap(({ id, wanted }) => (wanted && id !== task_id ? [wanted] : []));
  }

  /** Keeps the probed input for the other tasks. */
  keep(source: Source): void {
    this.#keep(source);
  }
}
