/**
 * Resolves to true as soon as this browser may have runs of a name: at once for those of an earlier visit, otherwise when
 * another tab announces one. Resolves to false when the signal aborts first.
 */
export async function findRuns(name: string, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const channel = new BroadcastChannel(channelOf(name));
  channel.addEventListener("message", () => resolve(true));
  signal.addEventListener("abort", () => resolve(false), { once: true });
  mayHaveRuns(name).then((has) => has && resolve(true));
  return promise.finally(() => channel.close());
}

/** Returns the name of the channel on which tabs announce changes to runs. */
export function channelOf(name: string): string {
  return `${name} runs`;
}

/** Returns whether this browser may have runs of a name; false when none was ever created. */
export async function mayHaveRuns(name: string): Promise<boolean> {
  try {
    return (await indexedDB.databases()).some((database) => database.name === name);
  } catch {
    // When the browser does not say, assume there may be some.
    return true;
  }
}
