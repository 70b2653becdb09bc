import { useSignal, useSignalEffect } from "@preact/signals";
import { render } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect } from "preact/hooks";
import { createLocalClient, type LocalClientOptions } from "../src/browser/index.ts";
import { createEdge } from "./console/edge.ts";
import { LOCK_PREFIX } from "./offline/names.ts";
import { DropAnywhere } from "./queue/add-inputs.tsx";
import { createQueue } from "./queue/create-queue.ts";
import { Announcer, Notify } from "./queue/notifications.tsx";
import { totalsOf } from "./queue/queue.ts";
import { QueueView } from "./queue/queue-view.tsx";
import * as strings from "./strings.ts";
import { whenIdle } from "./ui/schedule.ts";
import { createDestinations, useWorkbench, WorkbenchContext } from "./workbench.ts";
import "./tokens.css";
import "./ui/base.css";
import "./ui/controls.css";
import "./app.css";

const Console = lazy(async () => ({ default: (await import("./console/console.tsx")).Console }));

const VIEWS = {
  workbench: { hash: "#/", title: strings.workbench },
  edge: { hash: "#/edge", title: strings.edge },
} as const;

function App() {
  const { queue } = useWorkbench();
  const view = useSignal(viewOf(location.hash));
  useEffect(() => {
    const update = () => {
      view.value = viewOf(location.hash);
    };
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, [view]);
  useSignalEffect(() => {
    const { percent } = totalsOf(queue.items.value);
    const title = `${VIEWS[view.value].title} · Framewright`;
    document.title = percent === null ? title : `${percent} % · ${title}`;
  });
  return (
    <div class="app">
      <button type="button" class="skip" onClick={skip}>
        {strings.skipToContent}
      </button>
      <header>
        <div>
          <span class="brand">
            <svg class="mark" width={24} height={24} viewBox="0 0 24 24" aria-hidden="true">
              <path d="M5 20.5V4.5h14M5 11.5h8" />
              <path class="end" d="M20 13.5v7h-7" />
            </svg>
            Framewright
          </span>
          <nav aria-label={strings.views}>
            {Object.entries(VIEWS).map(([name, { hash, title }]) => (
              <a key={name} href={hash} aria-current={view.value === name ? "page" : undefined}>
                {title}
              </a>
            ))}
          </nav>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {view.value === "workbench" ? (
          <QueueView />
        ) : (
          <Suspense fallback={null}>
            <Console />
          </Suspense>
        )}
      </main>
      <footer class="small">
        <a href="/LICENSES.txt">{strings.licenses}</a>
      </footer>
      <Notify />
      <Announcer />
      <DropAnywhere />
    </div>
  );
}

function viewOf(hash: string): keyof typeof VIEWS {
  return hash.startsWith(VIEWS.edge.hash) ? "edge" : "workbench";
}

function skip(): void {
  document.querySelector("main")?.focus();
}

/** Makes the built page work offline, once it is loaded and idle. */
function startOffline(): void {
  const { version } = document.documentElement.dataset;
  if (!version || !("serviceWorker" in navigator)) return;
  // The lock lasts as long as the page and keeps the files of its version.
  void navigator.locks.request(LOCK_PREFIX + version, { mode: "shared" }, () => new Promise<never>(() => {}));
  const begin = async () => {
    const { keepPage } = await import("./offline/keep-page.tsx");
    await keepPage(version);
  };
  if (document.readyState === "complete") whenIdle(begin);
  else addEventListener("load", () => whenIdle(begin), { once: true });
}

const HOME = "[data-home]";

/**
 * Keeps the focus in place for keyboard users: when the focused element is removed, the nearest element with `data-home`
 * gets the focus. When that element itself is removed, the one after it does, otherwise the one before it.
 */
function keepFocus(root: HTMLElement): void {
  let last: Element | null = null;
  root.addEventListener("focusin", ({ target }) => {
    last = target instanceof Element ? target : null;
  });
  root.addEventListener("focusout", ({ target }) => {
    // Some browsers also fire this event for removed elements, and when the window loses focus.
    queueMicrotask(() => {
      if (last === target && last?.isConnected && document.activeElement !== last) last = null;
    });
  });
  new MutationObserver((changes) => {
    const removedFocus = last;
    if (!removedFocus || removedFocus.isConnected || document.activeElement !== document.body) return;
    const change = changes.find(({ target, removedNodes }) => {
      return target.isConnected && [...removedNodes].some((node) => node.contains(removedFocus));
    });
    if (!change) return;
    last = null;
    homeAfter(change, removedFocus, root)?.focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true });
}

function homeAfter(change: MutationRecord, removedFocus: Element, root: HTMLElement): HTMLElement | null {
  const removed = [...change.removedNodes].find((node) => node.contains(removedFocus));
  const sibling =
    removed instanceof Element && removed.matches(HOME)
      ? (homeAlong(change.nextSibling, "nextSibling") ?? homeAlong(change.previousSibling, "previousSibling"))
      : null;
  const within = change.target instanceof Element ? change.target.closest<HTMLElement>(HOME) : null;
  return sibling ?? within ?? root.querySelector<HTMLElement>(`main ${HOME}`) ?? root.querySelector("main");
}

function homeAlong(first: Node | null, direction: "nextSibling" | "previousSibling"): HTMLElement | null {
  for (let node = first; node; node = node[direction]) {
    if (!(node instanceof HTMLElement && node.isConnected)) continue;
    const home = node.matches(HOME) ? node : node.querySelector<HTMLElement>(HOME);
    if (home) return home;
  }
  return null;
}

const THREADED_CORE = {
  wasm: new URL("../dist/core-mt/ffmpeg-core-mt.wasm.gz", import.meta.url).href,
  glue: new URL("../dist/core-mt/ffmpeg-core-mt.js.gz", import.meta.url).href,
  threads: new URL("../dist/core-mt/ffmpeg-core-mt.worker.js.gz", import.meta.url).href,
} as const satisfies LocalClientOptions["threadedCore"];

const destinations = createDestinations();
const device = createLocalClient({
  name: "framewright-page",
  threadedCore: THREADED_CORE,
  // The visitor types the URLs, which may be in a private network.
  allowPrivate: true,
  connections: [destinations.connection],
  // The queue stores each file once for all of its tasks.
  keepInputBytes: 0,
});
const edge = createEdge();
const queue = createQueue(device, edge);
const root = document.getElementById("app");
if (root) {
  render(
    <WorkbenchContext.Provider value={{ device, edge, queue, destinations }}>
      <App />
    </WorkbenchContext.Provider>,
    root,
  );
  keepFocus(root);
}
startOffline();
