import { MediaError } from "../../media/errors.ts";

const REQUIRED = ["Worker", "indexedDB"] as const;

/** Returns the reason why no task can run in this environment, such as a server that renders the page; null in a page. */
export function pageFault(): MediaError | null {
  const missing = REQUIRED.filter((name) => !Reflect.get(globalThis, name));
  if (missing.length > 0) {
    return unavailable(
      `The local client runs in a page, and there is no ${missing.join(" and no ")} here, as on a server or in Node. ` +
        "Call it in the browser, or use createRemoteClient of framewright/client.",
    );
  }
  if (globalThis.isSecureContext !== false) return null;
  return unavailable(
    "The local client needs a page that is served over https:// or from localhost: the browser denies others files and locks.",
  );
}

/** Returns the error for a worker that did not start, with advice. */
export function workerFault(reason: string, cause?: unknown): MediaError {
  const message = `The media worker could not be started: ${reason}. If your bundler did not find it, serve dist/workers and dist/core of the package side by side on the page's own origin, and name the first as workers: "/…/workers/".`;
  return new MediaError("worker_lost", message, { cause });
}

function unavailable(message: string): MediaError {
  return new MediaError("service_unavailable", message, { retryable: false });
}

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
      const message = `The browser asks whether ${handle.name} may be read only after a click: call resume() from its handler, or pass the file, chosen again.`;
      throw new MediaError("input_unreachable", message, { cause: thrown, retryable: false });
    },
  );
  if (isGranted) return;
  const message = `The visitor did not allow ${handle.name} to be read: pass the file, chosen again, to resume().`;
  throw new MediaError("input_unreachable", message, { retryable: false });
}
