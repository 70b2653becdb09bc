import { LOCK_PREFIX } from "./names.ts";
import { whenIdle } from "./when-idle.ts";

/** Makes the built page one that works offline, once it is there and has nothing better to do. */
export function startOffline(): void {
  const { version } = document.documentElement.dataset;
  // A page that is worked on has no version, and one that came by plain http from another machine no service worker.
  if (!version || !("serviceWorker" in navigator)) return;
  // Held for as long as the page is there, so that the files of its version are.
  void navigator.locks.request(LOCK_PREFIX + version, { mode: "shared" }, () => new Promise<never>(() => {}));
  const begin = async () => {
    const { keepPage } = await import("./keep-page.tsx");
    await keepPage(version);
  };
  if (document.readyState === "complete") whenIdle(begin);
  else addEventListener("load", () => whenIdle(begin), { once: true });
}
