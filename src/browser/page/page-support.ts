import type { MediaError } from "../../media/errors.ts";
import { errors } from "./errors.ts";

const REQUIRED = ["Worker", "indexedDB"] as const;

/** Returns the reason why no task can run in this environment, such as a server that renders the page; null in a page. */
export function pageFault(): MediaError | null {
  const names = REQUIRED.filter((name) => !Reflect.get(globalThis, name));
  if (names.length > 0) return errors.notPage({ names });
  return globalThis.isSecureContext === false ? errors.insecurePage() : null;
}

// Only pages have persist().
interface PageStorage {
  persisted?(): Promise<boolean>;
  persist?(): Promise<boolean>;
}

/** Asks the browser once to keep its storage even under disk pressure; some browsers ask the visitor. Never rejects. */
export async function keepStorage(name: string): Promise<void> {
  try {
    const memory: { getItem(key: string): string | null; setItem(key: string, value: string): void } =
      Reflect.get(globalThis, "localStorage");
    const key = `${name} asked to keep storage`;
    if (memory.getItem(key)) return;
    memory.setItem(key, "yes");
    const storage: PageStorage = navigator.storage;
    if (!(await storage.persisted?.())) await storage.persist?.();
  } catch {
    // Storage is not allowed.
  }
}

/**
 * Asks the visitor to allow reading a file again; rejects with `input_unreachable` without a click, or when the visitor
 * refuses.
 */
export async function askToRead(handle: FileSystemFileHandle | null): Promise<void> {
  const ask = handle && (Reflect.get(handle, "requestPermission") as (() => Promise<string>) | undefined);
  if (!ask) return;
  const isGranted = await ask.call(handle).then(
    (state) => state === "granted",
    (thrown: unknown) => {
      if (!(thrown instanceof DOMException) || thrown.name !== "SecurityError") return false;
      throw errors.clickMissing({ name: handle.name, cause: thrown });
    },
  );
  if (!isGranted) throw errors.permissionDenied({ name: handle.name });
}
