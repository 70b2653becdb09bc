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

/** One of the Workflow bindings. */
export interface RunBinding {
  create(options: { id: string; params: { id: string } }): Promise<unknown>;
  get(id: string): Promise<RunInstance>;
}

/** Names of the Workflow bindings. Cloudflare creates 100 instances a second per Workflow and 300 per account, hence three. */
export const ENGINES = ["RUN", "RUN_2", "RUN_3"] as const;
/** The Workflow bindings; all but the first may be missing. */
export type Engines = { RUN: RunBinding } & { [name in (typeof ENGINES)[number]]?: RunBinding };

/** Starts the instance of a run, unless it exists already. */
export async function startInstance(engines: Engines, id: string): Promise<void> {
  const [own] = bindingsOf(engines, id);
  try {
    await own?.create({ id, params: { id } });
  } catch (thrown) {
    const status = await instanceStatus(engines, id);
    if (status === null || status === UNKNOWN) throw thrown;
  }
}

async function findInstance(engines: Engines, id: string): Promise<RunInstance> {
  let fault: unknown;
  // A run that began before a binding was added may be under any other binding.
  for (const binding of bindingsOf(engines, id)) {
    try {
      return await binding.get(id);
    } catch (thrown) {
      if (fault === undefined || isMissing(fault)) fault = thrown;
    }
  }
  throw fault;
}

/** The status of an instance while Workflows does not report one, for example during an outage. */
export const UNKNOWN = "unknown";

const isMissing = (thrown: unknown) => /not[_ ]found/i.test(String(thrown));

/** Returns the status of a run's instance: null if there is no instance, {@link UNKNOWN} if Workflows cannot tell. */
export async function instanceStatus(engines: Engines, id: string): Promise<string | null> {
  try {
    return (await (await findInstance(engines, id)).status()).status;
  } catch (thrown) {
    return isMissing(thrown) ? null : UNKNOWN;
  }
}

const WAKE = "wake";

/** Wakes an instance that waits for an event or that a restart has paused; any other ignores the event. */
export async function wakeInstance(engines: Engines, id: string, status: string | null): Promise<void> {
  const instance = await findInstance(engines, id);
  if (status === "paused") await instance.resume();
  else await instance.sendEvent({ type: WAKE, payload: {} });
}

/** Stops an instance; does nothing if it has ended or never began. */
export async function terminateInstance(engines: Engines, id: string): Promise<void> {
  try {
    await (await findInstance(engines, id)).terminate();
  } catch {
    // The instance has ended or never existed.
  }
}

/** Stops an instance and removes its stored state; rejects if it still exists after that. */
export async function deleteInstance(engines: Engines, id: string): Promise<void> {
  try {
    await (await findInstance(engines, id)).delete();
  } catch (thrown) {
    if ((await instanceStatus(engines, id)) !== null) throw thrown;
  }
}

// The random end of the id selects the run's own binding, which comes first.
function bindingsOf(engines: Engines, id: string): RunBinding[] {
  const all = ENGINES.flatMap((name) => engines[name] ?? []);
  const own = Number.parseInt(id.slice(-4), 36) % all.length;
  return [...all.slice(own), ...all.slice(0, own)];
}

const TIMEOUT = "7 days";

type Answer = "granted" | "waits" | "over";

/** The methods of `WorkflowStep` that waiting uses. */
export interface TurnStep {
  do(name: string, ask: () => Promise<Answer>): Promise<Answer>;
  waitForEvent(name: string, event: { type: string; timeout: typeof TIMEOUT }): Promise<unknown>;
}

/**
 * Returns a function that waits until the run may do heavy work, and rejects with {@link RunOver} when the run is over. A waiting
 * run hibernates without calls or awake objects, so thousands can wait at once.
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
      // Workflows buffers an event that arrives before this wait; after the timeout the run asks again.
      await step.waitForEvent("turn", { type: WAKE, timeout: TIMEOUT }).catch(() => {});
    }
  };
}
