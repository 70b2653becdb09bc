// Only pages have persist().
interface PageStorage {
  persisted?(): Promise<boolean>;
  persist?(): Promise<boolean>;
}

/** Asks the browser once to keep its storage even under disk pressure; some browsers ask the visitor. Never rejects. */
export async function keepStorage(name: string): Promise<void> {
  try {
    const asked: { getItem(key: string): string | null; setItem(key: string, value: string): void } =
      Reflect.get(globalThis, "localStorage");
    const key = `${name} asked to keep storage`;
    if (asked.getItem(key)) return;
    asked.setItem(key, "yes");
    const storage: PageStorage = navigator.storage;
    if (!(await storage.persisted?.())) await storage.persist?.();
  } catch {
    // Where storage is not allowed, there is nothing to keep.
  }
}
