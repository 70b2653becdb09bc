import { CACHE_PREFIX, CORE_CACHE, LOCK_PREFIX } from "../names.ts";

/** Deletes the caches of versions without an open page; does nothing while a new version is installing. */
export async function tidy({ registration, clients }: ServiceWorkerGlobalScope): Promise<void> {
  // Listed before checking what is installing: a version that starts only now is not among them.
  const names = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX));
  if (registration.installing || registration.waiting) return;
  const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const pages = windows.filter(({ url }) => new URL(url).pathname === "/");
  const { held = [] } = await navigator.locks.query();
  const used = held.flatMap(({ name }) =>
    name?.startsWith(LOCK_PREFIX) ? [name.slice(LOCK_PREFIX.length)] : [],
  );
  // A page has not yet reported its version.
  if (used.length < pages.length) return;
  const wanted = new Set([BUILD.version, ...used].map((version) => CACHE_PREFIX + version));
  await Promise.all(names.filter((name) => !wanted.has(name)).map((name) => caches.delete(name)));
  if (wanted.size === 1) await tidyCore();
}

// The core of an earlier build, which has another name only if its contents differ.
async function tidyCore(): Promise<void> {
  const cache = await caches.open(CORE_CACHE);
  const wanted = new Set([...BUILD.core, ...BUILD.core_others]);
  for (const request of await cache.keys()) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/app/") && !wanted.has(pathname)) await cache.delete(request);
  }
}
