import { whenIdle } from "../ui/timing.ts";
import { LOCK_PREFIX } from "./names.ts";

/** Makes the built page work offline, once it is loaded and idle. */
export function startOffline(): void {
  const { version } = document.documentElement.dataset;
  // A page in development has no version, and one from another machine over plain http has no service worker.
  if (!version || !("serviceWorker" in navigator)) return;
  // Held for the lifetime of the page, so that the files of its version are kept.
  void navigator.locks.request(LOCK_PREFIX + version, { mode: "shared" }, () => new Promise<never>(() => {}));
  const begin = async () => {
    const { keepPage } = await import("./keep-page.tsx");
    await keepPage(version);
  };
  if (document.readyState === "complete") whenIdle(begin);
  else addEventListener("load", () => whenIdle(begin), { once: true });
}
