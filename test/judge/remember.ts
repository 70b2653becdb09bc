const cache = new Map<string, Promise<unknown>>();

/** Caches a reading of a constant file for the test file; the key names the file and the reading. */
export function remember<T>(key: unknown, read: () => Promise<T>): Promise<T> {
  const name = JSON.stringify(key);
  const cached = cache.get(name);
  if (cached) return cached as Promise<T>;
  const reading = read();
  cache.set(name, reading);
  return reading;
}
