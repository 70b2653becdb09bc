import { signal } from "@preact/signals";
import { render } from "preact";
import * as strings from "../strings.ts";
import { FirstIcon } from "../ui/first-icon.tsx";
import { whenIdle } from "../ui/schedule.ts";
import type { Order, TookOver } from "./names.ts";

const HOUR_MS = 3_600_000;
const SETTLED_MS = 5000;
const ASKED_MS = 1000;

/**
 * Registers the service worker, which keeps version `version` of the page for offline use, and tells the visitor about a new
 * version. Does nothing where the browser forbids it.
 */
export async function keepPage(version: string): Promise<void> {
  const { serviceWorker } = navigator;
  const registration = await serviceWorker.register("/service-worker.js").catch(() => null);
  if (!registration) return;
  const isThere = signal(false);
  const announce = () => {
    isThere.value = true;
  };
  showBelow(isThere, () => renew(registration));

  const follow = (worker: ServiceWorker | null) => {
    const check = () => worker?.state === "installed" && serviceWorker.controller && announce();
    worker?.addEventListener("statechange", check);
    check();
  };
  follow(registration.waiting);
  follow(registration.installing);
  registration.addEventListener("updatefound", () => follow(registration.installing));
  serviceWorker.addEventListener("message", ({ data }: MessageEvent<TookOver>) => {
    if (data.version !== version) announce();
  });
  serviceWorker.startMessages();
  addEventListener("vite:preloadError", announce);

  const order = (message: Order) => registration.active?.postMessage(message);
  let lastCheck = Date.now();
  const checkForUpdate = () => {
    order("tidy");
    if (Date.now() - lastCheck < HOUR_MS) return;
    lastCheck = Date.now();
    registration.update().catch(() => {});
  };
  setInterval(checkForUpdate, HOUR_MS);
  document.addEventListener(
    "visibilitychange",
    () => document.visibilityState === "visible" && checkForUpdate(),
  );
  await serviceWorker.ready;
  order("tidy");
  setTimeout(() => whenIdle(() => savesData() || order("keep all")), SETTLED_MS);
}

function renew({ active, waiting }: ServiceWorkerRegistration): void {
  const reload = () => location.reload();
  if (waiting) {
    navigator.serviceWorker.addEventListener("controllerchange", reload, { once: true });
    active?.postMessage("stop" satisfies Order);
    const ask = () => waiting.postMessage("take over" satisfies Order);
    ask();
    // A browser asked to update during an earlier check may not check again.
    setInterval(ask, ASKED_MS);
  } else reload();
}

function showBelow(isThere: { value: boolean }, onReload: () => void): void {
  const root = document.createElement("div");
  document.body.append(root);
  render(<NewVersion isThere={isThere} onReload={onReload} />, root);
}

function savesData(): boolean {
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
  return connection?.saveData ?? false;
}

function NewVersion({ isThere, onReload }: { isThere: { value: boolean }; onReload: () => void }) {
  return (
    <div class="new-version" role="status">
      {isThere.value && (
        <div class="panel">
          <FirstIcon name="refresh" />
          <span>{strings.newVersionReady}</span>
          <button type="button" class="primary" onClick={onReload}>
            {strings.reload}
          </button>
          <button
            type="button"
            class="quiet icon"
            aria-label={strings.notNow}
            onClick={() => {
              isThere.value = false;
            }}
          >
            <FirstIcon name="cancel" />
          </button>
        </div>
      )}
    </div>
  );
}
