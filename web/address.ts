import { type ReadonlySignal, signal } from "@preact/signals";
import { type Job, jobAt } from "./home/jobs.ts";

/** The addresses of the list and of the console's parts, beside the start page and the jobs. */
export const PLACES = [
  "/files",
  "/console",
  "/console/tasks",
  "/console/connections",
  "/console/webhooks",
  "/console/keys",
] as const;

/** The part of the page that its address selects. */
export interface Address {
  /** The path, without a slash at its end. */
  readonly path: string;
  readonly view: "files" | "console";
  /** The job of this address; null on other pages. */
  readonly job: Job | null;
  /** Id of the file whose editor is open; null for the list. */
  readonly file: string | null;
  /** The open pane of the editor; null for the first. */
  readonly pane: string | null;
  /** The filter of the list; null for all files. */
  readonly show: string | null;
}

/** Returns the part of the page that an address selects. */
export function addressOf({ pathname, search }: { pathname: string; search: string }): Address {
  const path = pathname.replace(/(?<=.)\/$/, "");
  const query = new URLSearchParams(search);
  return {
    path,
    view: path.startsWith("/console") ? "console" : "files",
    job: jobAt(path),
    file: query.get("file"),
    pane: query.get("pane"),
    show: query.get("show"),
  };
}

/** Goes to an address of the page without loading it; `replaces` adds no entry to the history. */
export function visit(href: string, { replaces = false } = {}): void {
  if (replaces) history.replaceState(history.state, "", href);
  else if (new URL(href, location.href).href !== location.href)
    history.pushState({ isInner: true }, "", href);
  dispatchEvent(new PopStateEvent("popstate"));
}

/** Returns to the list: back to where the visitor came from, or to `/files` if the page was opened at this address. */
export function leave(): void {
  if (history.state?.isInner) history.back();
  else visit("/files", { replaces: true });
}

/** Follows the address of the page. Links to its parts change the address without loading it, so that the list stays. */
export function followAddress(): ReadonlySignal<Address> {
  redirectOld();
  const address = signal(addressOf(location));
  const update = () => {
    redirectOld();
    address.value = addressOf(location);
  };
  addEventListener("popstate", update);
  addEventListener("hashchange", update);
  addEventListener("click", (event) => {
    const { target, button, defaultPrevented, ctrlKey, metaKey, shiftKey, altKey } = event;
    const link = target instanceof Element ? target.closest("a") : null;
    if (!link || link.target || link.download || defaultPrevented || button !== 0) return;
    if (ctrlKey || metaKey || shiftKey || altKey || link.origin !== location.origin || link.hash) return;
    const { pathname } = link;
    if (pathname !== "/" && !jobAt(pathname) && !PLACES.some((place) => place === pathname)) return;
    event.preventDefault();
    visit(link.href);
    scrollTo(0, 0);
    document.querySelector("main")?.focus({ preventScroll: true });
  });
  return address;
}

/** Replaces an old address of the console, such as `#/edge/keys`. */
function redirectOld(): void {
  const { hash } = location;
  if (!hash.startsWith("#/")) return;
  const place = hash.replace(/^#\/edge/, "/console");
  const fallback = place === hash ? location.pathname : "/console";
  history.replaceState(history.state, "", PLACES.find((each) => each === place) ?? fallback);
}
