import { RunOver } from "../../src/runs/pipeline.ts";
import { patiently } from "../network/durable-objects.ts";

/** The Workflow instance of one run, which has the run's id. */
export interface RunInstance {
  status(): Promise<{ status: string }>;
  sendEvent(event: { type: string; payload: object }): Promise<void>;
  resume(): Promise<void>;
  terminate(): Promise<void>;
  delete(): Promise<void>;
}

/** One of the engine's bindings. */
export interface RunBinding {
  create(options: { id: string; params: { id: string } }): Promise<unknown>;
  get(id: string): Promise<RunInstance>;
}

/** The engine's bindings. Cloudflare creates 100 instances of a Workflow a second, and 300 of an account, so there are three. */
export const ENGINES = ["RUN", "RUN_2", "RUN_3"] as const;
/** The engine's bindings; all but the first may be missing. */
export type Engines = { RUN: RunBinding } & { [name in (typeof ENGINES)[number]]?: RunBinding };

/** Starts the instance of a run; an instance that stands already is as good. */
export async function startInstance(engines: Engines, id: string): Promise<void> {
  const [own] = bindingsOf(engines, id);
  try {
    await own?.create({ id, params: { id } });
  } catch (thrown) {
    const status = await instanceStatus(engines, id);
    if (status === null || status === UNKNOWN) throw thrown;
  }
}

/** Returns a run's instance; rejects when there is none. */
async function findInstance(engines: Engines, id: string): Promise<RunInstance> {
  let fault: unknown;
  // A run that began before a binding was added is under the binding it had then.
  for (const binding of bindingsOf(engines, id)) {
    try {
      return await binding.get(id);
    } catch (thrown) {
      if (fault === undefined || isMissing(fault)) fault = thrown;
    }
  }
  throw fault;
}

/** Stands for a status that Workflows did not report, as during an outage. */
export const UNKNOWN = "unknown";

// Any other error says nothing about the instance.
const isMissing = (thrown: unknown) => /not[_ ]found/i.test(String(thrown));

/** Returns the status of a run's instance: null if there is no instance, {@link UNKNOWN} if Workflows does not say. */
export async function instanceStatus(engines: Engines, id: string): Promise<string | null> {
  try {
    return (await (await findInstance(engines, id)).status()).status;
  } catch (thrown) {
    return isMissing(thrown) ? null : UNKNOWN;
  }
}

/** The event that wakes an instance. */
const WAKE = "wake";

/** Wakes an instance that waits for an event or that a restart put to sleep; any other ignores it. */
export async function wakeInstance(engines: Engines, id: string, status: string | null): Promise<void> {
  const instance = await findInstance(engines, id);
  if (status === "paused") await instance.resume();
  else await instance.sendEvent({ type: WAKE, payload: {} });
}

/** Stops an instance; one that has ended or never began is left as it is. */
export async function terminateInstance(engines: Engines, id: string): Promise<void> {
  try {
    await (await findInstance(engines, id)).terminate();
  } catch {
    // Nothing runs under that id.
  }
}

/** Stops an instance and removes what it has stored; rejects where it still stands after that. */
export async function deleteInstance(engines: Engines, id: string): Promise<void> {
  try {
    await (await findInstance(engines, id)).delete();
  } catch (thrown) {
    // Nothing is stored under that id, or it was removed with the instances that ended long ago.
    if ((await instanceStatus(engines, id)) !== null) throw thrown;
  }
}

// By the end of the id, which is random.
function bindingsOf(engines: Engines, id: string): RunBinding[] {
  const all = ENGINES.flatMap((name) => engines[name] ?? []);
  const own = Number.parseInt(id.slice(-4), 36) % all.length;
  return [...all.slice(own), ...all.slice(0, own)];
}

// The TaskObject wakes a waiting run; this bounds the wait in case it never does.
const TIMEOUT = "7 days";

type Answer = "granted" | "waits" | "over";

/** What waiting takes of a Workflow's step. */
export interface TurnStep {
  do(name: string, ask: () => Promise<Answer>): Promise<Answer>;
  waitForEvent(name: string, event: { type: string; timeout: typeof TIMEOUT }): Promise<unknown>;
}

/**
 * Returns a function that waits until the run may do heavy work, and rejects with {@link RunOver} when the run is over. A waiting
 * run sleeps: it makes no calls and keeps no object awake, so thousands can wait at once.
 */
export function createHeavyTurn(
  step: TurnStep,
  object: () => { askHeavy(): Promise<Answer> },
): () => Promise<void> {
  return async () => {
    for (;;) {
      const granted = await step.do("turn", () => patiently(() => object().askHeavy()));
      if (granted === "over") throw new RunOver();
      if (granted === "granted") return;
      // Events are kept until they are waited for, so one that comes in between is not lost. After the time-out the run asks again.
      await step.waitForEvent("turn", { type: WAKE, timeout: TIMEOUT }).catch(() => {});
    }
  };
}
