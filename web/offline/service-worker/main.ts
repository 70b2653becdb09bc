import type { Order, TookOver } from "../names.ts";
import { findKept, keepFiles, keepLater, openOwn } from "./keep.ts";
import { tidy } from "./tidy.ts";

// The service worker of the page. It caches all files of its version before it takes over, which happens when no page of an
// earlier version is open any longer, or at the visitor's request. Files that pages of an earlier version may still load stay
// until those are closed.
const scope = globalThis as unknown as ServiceWorkerGlobalScope;

// A new version can take over only when this one has nothing left to do.
const stop = new AbortController();

scope.addEventListener("install", (event) => event.waitUntil(keepFiles()));

scope.addEventListener("activate", (event) => event.waitUntil(takeOver()));

scope.addEventListener("message", (event) => {
  const order = event.data as Order;
  if (order === "take over") event.waitUntil(scope.skipWaiting());
  else if (order === "tidy") event.waitUntil(tidy(scope));
  else if (order === "keep all") event.waitUntil(keepLater(stop.signal));
  else if (order === "stop") stop.abort();
});

scope.addEventListener("fetch", (event) => {
  const path = pathOf(event.request);
  if (path !== null) event.respondWith(answer(event, path));
});

async function takeOver(): Promise<void> {
  await scope.clients.claim();
  const pages = await scope.clients.matchAll({ type: "window" });
  for (const page of pages) page.postMessage({ version: BUILD.version } satisfies TookOver);
}

const FILES = new Set(BUILD.files);
const LATER = new Set(BUILD.later);

// Null for requests that bypass the service worker: the API, media, the core, ranges, other origins.
function pathOf({ method, mode, url, headers }: Request): string | null {
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== scope.location.origin || headers.has("Range")) return null;
  if (mode === "navigate") return pathname === "/" ? pathname : null;
  const isCore = pathname.endsWith(".gz");
  return FILES.has(pathname) || (pathname.startsWith("/app/") && !isCore) ? pathname : null;
}

async function answer(event: FetchEvent, path: string): Promise<Response> {
  const kept = await findKept(path);
  if (kept) return kept;
  const response = await fetch(event.request);
  // Files of this version only, and not the page itself, which may already belong to another.
  const isWanted = LATER.has(path) || (path !== "/" && FILES.has(path));
  if (isWanted && response.ok && !response.redirected) {
    const copy = response.clone();
    const keeping = openOwn().then((cache) => cache.put(path, copy));
    event.waitUntil(keeping.catch(() => {}));
  }
  return response;
}
