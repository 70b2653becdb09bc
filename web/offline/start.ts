import { whenIdle } from "../ui/timing.ts";
import { LOCK_PREFIX } from "./names.ts";

/** Makes the built page work offline, once it is loaded and idle. */
export function startOffline(): void {
  const { version } = document.documentElement.dataset;
  if (!version || !("serviceWorker" in navigator)) return;
  // The lock lasts as long as the page and keeps the files of its version.
  void navigator.locks.request(LOCK_PREFIX + version, { mode: "shared" }, () => new Promise<never>(() => {}));
  const begin = async () => {
    const { keepPage } = await import("./keep-page.tsx");
    await keepPage(version);
  };
  if (document.readyState === "complete") whenIdle(begin);
  else addEventListener("load", () => whenIdle(begin), { once: true });
}
