import { CACHE_PREFIX, CORE_CACHE, LOCK_PREFIX, type Order, type TookOver } from "../names.ts";

const PAGES = new Set(BUILD.pages);

function openOwn(): Promise<Cache> {
  return caches.open(CACHE_PREFIX + BUILD.version);
}

/**
 * Returns a file from the cache, or null. A file whose name contains its hash may come from any version, because pages of an
 * earlier one may be open; the others must belong to this version.
 */
async function findCached(path: string): Promise<Response | null> {
  const match = await (await openOwn()).match(path, { ignoreVary: true });
  if (match || !isNamedByContent(path)) return match ?? null;
  for (const name of await caches.keys()) {
    if (!name.startsWith(CACHE_PREFIX)) continue;
    const earlier = await (await caches.open(name)).match(path, { ignoreVary: true });
    if (earlier) return earlier;
  }
  return null;
}

/** Caches all files of the page; rejects when one is missing, or the server has moved on to another version. */
async function keepFiles(): Promise<void> {
  const cache = await openOwn();
  await Promise.all(
    BUILD.files.map(async (path) => {
      const cached = isNamedByContent(path) ? await findCached(path) : null;
      const response = cached ?? (await load(path));
      if (PAGES.has(path) && !(await response.clone().text()).includes(BUILD.version)) {
        throw new Error("The server now has another version of the page.");
      }
      await cache.put(path, response);
    }),
  );
}

async function keepLater(signal: AbortSignal): Promise<void> {
  const [own, core] = await Promise.all([openOwn(), caches.open(CORE_CACHE)]);
  const keeping = [
    ...BUILD.later.map(async (path) => {
      if (await own.match(path)) return;
      await own.put(path, (await findCached(path)) ?? (await load(path, signal)));
    }),
    ...BUILD.core.map(async (path) => {
      if (await core.match(path)) return;
      const { body, headers } = await load(path, signal);
      // Encoders read the unpacked file. The server may have unpacked it already (Content-Encoding).
      const isPacked = !headers.has("Content-Encoding");
      const bytes = isPacked ? body?.pipeThrough(new DecompressionStream("gzip")) : body;
      await core.put(path, new Response(bytes ?? null));
    }),
  ];
  await Promise.allSettled(keeping);
}

async function load(path: string, signal?: AbortSignal): Promise<Response> {
  // A name without a hash does not show whether the browser's copy is current.
  const cache = isNamedByContent(path) ? "default" : "no-cache";
  const response = await fetch(path, signal ? { cache, signal } : { cache });
  if (!response.ok || response.redirected) throw new Error(`${path} is not there (${response.status}).`);
  return response;
}

function isNamedByContent(path: string): boolean {
  return path.startsWith("/app/");
}

/** Deletes the caches of versions without an open page; does nothing while a new version is installing. */
async function tidy({ registration, clients }: ServiceWorkerGlobalScope): Promise<void> {
  // This list comes first, so that it lacks a version whose installation starts after the check.
  const names = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX));
  if (registration.installing || registration.waiting) return;
  const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const pages = windows.filter(({ url }) => pageAt(new URL(url).pathname) !== null);
  const { held = [] } = await navigator.locks.query();
  const versions = held.flatMap(({ name }) =>
    name?.startsWith(LOCK_PREFIX) ? [name.slice(LOCK_PREFIX.length)] : [],
  );
  // A page that has just opened may not hold its lock yet.
  if (versions.length < pages.length) return;
  const current = new Set([BUILD.version, ...versions].map((version) => CACHE_PREFIX + version));
  await Promise.all(names.filter((name) => !current.has(name)).map((name) => caches.delete(name)));
  if (current.size === 1) await tidyCore();
}

async function tidyCore(): Promise<void> {
  const cache = await caches.open(CORE_CACHE);
  const current = new Set([...BUILD.core, ...BUILD.core_others]);
  for (const request of await cache.keys()) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/app/") && !current.has(pathname)) await cache.delete(request);
  }
}

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

function pathOf({ method, mode, url, headers }: Request): string | null {
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== scope.location.origin || headers.has("Range")) return null;
  if (mode === "navigate") return pageAt(pathname);
  const isCore = pathname.endsWith(".gz");
  return FILES.has(pathname) || (pathname.startsWith("/app/") && !isCore) ? pathname : null;
}

/** Returns the page of an address, with or without a slash at its end; null for none. */
function pageAt(pathname: string): string | null {
  const page = pathname === "/" ? pathname : pathname.replace(/\/$/, "");
  return PAGES.has(page) ? page : null;
}

async function answer(event: FetchEvent, path: string): Promise<Response> {
  const cached = await findCached(path);
  if (cached) return cached;
  const response = await fetch(event.request);
  // The page itself may already be another version's, so only files of this version are cached.
  const isCacheable = LATER.has(path) || (!PAGES.has(path) && FILES.has(path));
  if (isCacheable && response.ok && !response.redirected) {
    const copy = response.clone();
    const keeping = openOwn().then((cache) => cache.put(path, copy));
    event.waitUntil(keeping.catch(() => {}));
  }
  return response;
}
