/**
 * Resolves to true as soon as this browser may have runs of a name: those of an earlier visit at once, those of another tab when that
 * tells of them; to false when the signal is aborted before.
 */
export async function findRuns(name: string, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const channel = new BroadcastChannel(channelOf(name));
  channel.addEventListener("message", () => resolve(true));
  signal.addEventListener("abort", () => resolve(false), { once: true });
  mayHaveRuns(name).then((has) => has && resolve(true));
  return promise.finally(() => channel.close());
}

/** Name of the channel by which the tabs tell each other of runs. */
export function channelOf(name: string): string {
  return `${name} runs`;
}

/** Tells whether this browser may have runs of a name: it does not where none was ever created. */
export async function mayHaveRuns(name: string): Promise<boolean> {
  try {
    return (await indexedDB.databases()).some((database) => database.name === name);
  } catch {
    // Where the browser does not tell, there may be some.
    return true;
  }
}
