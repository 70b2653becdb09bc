/**
 * Resolves with true as soon as this browser may have runs of a name: at once for those of an earlier visit, else when another tab
 * announces one; with false when the signal aborts first.
 */
export async function findRuns(name: string, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const channel = new BroadcastChannel(channelOf(name));
  channel.addEventListener("message", () => resolve(true));
  signal.addEventListener("abort", () => resolve(false), { once: true });
  mayHaveRuns(name).then((has) => has && resolve(true));
  return promise.finally(() => channel.close());
}

/** Name of the channel on which tabs announce changes of runs. */
export function channelOf(name: string): string {
  return `${name} runs`;
}

/** Whether this browser may have runs of a name; false where none was ever created. */
export async function mayHaveRuns(name: string): Promise<boolean> {
  try {
    return (await indexedDB.databases()).some((database) => database.name === name);
  } catch {
    // Where the browser does not say, there may be some.
    return true;
  }
}
