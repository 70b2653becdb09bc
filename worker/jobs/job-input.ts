import { RpcTarget } from "cloudflare:workers";
import type { Pin } from "../../src/storage/pinned/pin.ts";
import { createChanges } from "../run/changes.ts";
import type { RunPinned } from "../run/run-pin.ts";

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
