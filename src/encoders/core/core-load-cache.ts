/** Gives a file that was kept, or null: also where the browser has no cache for the page. */
export async function findCached(name: string | null, url: string | URL): Promise<Response | null> {
  if (name === null) return null;
  try {
    return (await (await caches.open(name)).match(String(url))) ?? null;
  } catch {
    return null;
  }
}

/** Keeps a file for the next visit, if the browser has a cache for the page and room in it. */
export async function keepCached(name: string | null, url: string | URL, file: Response): Promise<void> {
  if (name === null) return;
  try {
    const cache = await caches.open(name);
    await cache.put(String(url), file);
  } catch {
    // The next visit loads it again.
  }
}
