/** The engine's binding: one Workflow instance per run, named like it. */
export type RunBinding = Workflow<{ id: string }>;

/** Starts the instance of a run; an instance that stands already is as good. */
export async function startInstance(binding: RunBinding, id: string): Promise<void> {
  try {
    await binding.create({ id, params: { id } });
  } catch (thrown) {
    if ((await instanceStatus(binding, id)) === null) throw thrown;
  }
}

/** Returns the status of a run's instance; null when there is none. */
export async function instanceStatus(
  binding: RunBinding,
  id: string,
): Promise<InstanceStatus["status"] | null> {
  try {
    return (await (await binding.get(id)).status()).status;
  } catch {
    return null;
  }
}

/** The event that wakes an instance. */
export const WAKE = "wake";

/** Wakes an instance that waits for an event or that a restart put to sleep; another takes no notice of it. */
export async function wakeInstance(
  binding: RunBinding,
  id: string,
  status: InstanceStatus["status"] | null,
): Promise<void> {
  const instance = await binding.get(id);
  if (status === "paused") await instance.resume();
  else await instance.sendEvent({ type: WAKE, payload: {} });
}

/** Stops an instance; one that has ended or never began is left as it is. */
export async function terminateInstance(binding: RunBinding, id: string): Promise<void> {
  try {
    await (await binding.get(id)).terminate();
  } catch {
    // Nothing runs under that id.
  }
}
