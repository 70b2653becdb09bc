const remembered = new Map<string, Promise<unknown>>();

/** Reads something of a file that never changes only once in a test file; the key names the file and what is read. */
export function remember<T>(key: unknown, read: () => Promise<T>): Promise<T> {
  const name = JSON.stringify(key);
  const known = remembered.get(name);
  if (known) return known as Promise<T>;
  const reading = read();
  remembered.set(name, reading);
  return reading;
}
