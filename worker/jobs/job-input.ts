import { RpcTarget } from "cloudflare:workers";
import type { EncodeRequest } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import type { ByteRange } from "../../src/runs/ports.ts";
import type { Pin } from "../../src/storage/pinned.ts";
import { createChanges } from "../run/events.ts";
import type { RunPinned } from "../run/run-rows.ts";
import type { JobState } from "./job-state.ts";

// How long a task keeps the input to itself without a further sign of life.
const LEAD_MS = 30_000;

/** Which task of a job has the shared input to itself. Nothing of it is stored: a second reader would only read it twice. */
export class JobLead extends RpcTarget {
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
export class JobFetches extends RpcTarget {
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
export class JobPin extends RpcTarget {
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
export class JobKnown extends RpcTarget {
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
