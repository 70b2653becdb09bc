import { MediaError } from "../../core/errors.ts";

const NEEDED = ["Worker", "indexedDB"] as const;

/** Returns why no task can run in this environment, such as a server that renders the page; null in a page. */
export function pageFault(): MediaError | null {
  const missing = NEEDED.filter((name) => !Reflect.get(globalThis, name));
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

/** Converts what a Worker constructor throws to an error that says how to fix it. */
export function workerFault(reason: string, cause?: unknown): MediaError {
  const message = `The media worker could not be started: ${reason}. If your bundler did not find it, serve dist/workers and dist/core of the package side by side on the page's own origin, and name the first as workers: "/…/workers/".`;
  return new MediaError("worker_lost", message, { cause });
}

function unavailable(message: string): MediaError {
  return new MediaError("service_unavailable", message, { retryable: false });
}
