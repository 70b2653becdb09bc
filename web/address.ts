import { type ReadonlySignal, signal } from "@preact/signals";
import { type Job, jobAt } from "./home/jobs.ts";

/** The part of the page that its address selects. */
export interface Address {
  readonly view: "workbench" | "edge";
  /** The job of this address; null on the start page. */
  readonly job: Job | null;
}

/** Returns the part of the page that an address selects. */
export function addressOf({ pathname, hash }: { pathname: string; hash: string }): Address {
  return { view: hash.startsWith("#/edge") ? "edge" : "workbench", job: jobAt(pathname) };
}

/** Follows the address of the page. Links to the start page and to jobs change it without a load, so that the list stays. */
export function followAddress(): ReadonlySignal<Address> {
  const address = signal(addressOf(location));
  const update = () => {
    address.value = addressOf(location);
  };
  addEventListener("popstate", update);
  addEventListener("hashchange", update);
  addEventListener("click", (event) => {
    const { target, button, defaultPrevented, ctrlKey, metaKey, shiftKey, altKey } = event;
    const link = target instanceof Element ? target.closest("a") : null;
    if (!link || link.target || link.download || defaultPrevented || button !== 0) return;
    if (ctrlKey || metaKey || shiftKey || altKey || link.origin !== location.origin || link.hash) return;
    if (link.pathname !== "/" && !jobAt(link.pathname)) return;
    event.preventDefault();
    if (link.href !== location.href) history.pushState(null, "", link.href);
    update();
    scrollTo(0, 0);
    document.querySelector("main")?.focus({ preventScroll: true });
  });
  return address;
}
