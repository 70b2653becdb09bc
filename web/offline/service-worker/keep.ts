import { CACHE_PREFIX, CORE_CACHE } from "../names.ts";

export function openOwn(): Promise<Cache> {
  return caches.open(CACHE_PREFIX + BUILD.version);
}

/**
 * Returns a file from the cache, or null. A file whose name contains its hash may come from any version, because pages of an
 * earlier one may be open; the others must belong to this version.
 */
export async function findKept(path: string): Promise<Response | null> {
  const found = await (await openOwn()).match(path, { ignoreVary: true });
  if (found || !isNamedByContent(path)) return found ?? null;
  for (const name of await caches.keys()) {
    if (!name.startsWith(CACHE_PREFIX)) continue;
    const earlier = await (await caches.open(name)).match(path, { ignoreVary: true });
    if (earlier) return earlier;
  }
  return null;
}

/** Caches all files of the page; rejects when one is missing, or the server has moved on to another version. */
export async function keepFiles(): Promise<void> {
  const cache = await openOwn();
  await Promise.all(
    BUILD.files.map(async (path) => {
      const kept = isNamedByContent(path) ? await findKept(path) : null;
      const response = kept ?? (await load(path));
      if (path === "/" && !(await response.clone().text()).includes(BUILD.version)) {
        throw new Error("The server now has another version of the page.");
      }
      await cache.put(path, response);
    }),
  );
}

/** Caches the large files too, as far as possible before the signal aborts. */
export async function keepLater(signal: AbortSignal): Promise<void> {
  const [own, core] = await Promise.all([openOwn(), caches.open(CORE_CACHE)]);
  const keeping = [
    ...BUILD.later.map(async (path) => {
      if (await own.match(path)) return;
      await own.put(path, (await findKept(path)) ?? (await load(path, signal)));
    }),
    ...BUILD.core.map(async (path) => {
      if (await core.match(path)) return;
      const { body, headers } = await load(path, signal);
      // As the encoders cache it, so that no visit has to decompress it again. The server may already have done so
      // (Content-Encoding).
      const isPacked = !headers.has("Content-Encoding");
      const bytes = isPacked ? body?.pipeThrough(new DecompressionStream("gzip")) : body;
      await core.put(path, new Response(bytes ?? null));
    }),
  ];
  // What fails is loaded when needed, or at the next visit.
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
