/** Returns a cached file, or null when it is not cached or the page has no cache. */
export async function findCached(name: string | null, url: string | URL): Promise<Response | null> {
  if (name === null) return null;
  try {
    return (await (await caches.open(name)).match(String(url))) ?? null;
  } catch {
    return null;
  }
}

/** Caches a file for the next visit; does nothing when the page has no cache or no room in it. */
export async function keepCached(name: string | null, url: string | URL, file: Response): Promise<void> {
  if (name === null) return;
  try {
    const cache = await caches.open(name);
    await cache.put(String(url), file);
  } catch {
    // The next visit downloads it again.
  }
}
