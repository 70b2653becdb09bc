import { MediaError } from "../../src/core/errors.ts";
import { LIGHT_INPUT } from "../../src/encoders/light/light-limits.ts";
import { readSource, toStream } from "../../src/storage/http/byte-source.ts";
import type { HostGuard } from "../../src/storage/http/host-guard.ts";
import { readFacts } from "../../src/storage/http/http-facts.ts";
import { discard, type HttpOptions, requestHttp } from "../../src/storage/http/http-request.ts";
import { checkSize, createHttpSource } from "../../src/storage/http/http-stream.ts";
import { readAll } from "../../src/storage/read-all.ts";
import type { Env } from "../env.ts";
import { requireQuota } from "../limits/quota.ts";
import { mediaStorage } from "../network/media-bucket.ts";
import { createOutsideOf } from "../network/outside-of.ts";
import { patiently } from "../network/retry-object-call.ts";
import { createByteBudget } from "./byte-budget.ts";
import type { ImagePlace } from "./image.ts";

/** Bytes of a picture, with what tells its versions apart; null where there is no such thing. */
export interface ImageBytes {
  bytes: Uint8Array;
  validator: string | null;
}

/** Bytes that a source may have. */
export const IMAGE_BYTES = LIGHT_INPUT.image;
// An isolate has 128 MB, and its objects share them.
const room = createByteBudget(2 * IMAGE_BYTES);
const TIMEOUTS = { headersMs: 10_000, idleMs: 10_000, totalMs: 30_000 };

/** Reads a source into memory while `use` runs; calls nothing and returns null where `known` is still its version. */
export async function withSource<T>(
  env: Env,
  place: ImagePlace,
  { known, signal }: { known: string | null; signal: AbortSignal },
  use: (source: ImageBytes) => Promise<T>,
): Promise<T | null> {
  const read = /^https?:\/\//i.test(place.source) ? openWeb : openStored;
  const opened = await read(env, place, known, signal);
  if (!opened) return null;
  const { size, validator } = opened;
  return room.hold(size ?? IMAGE_BYTES, signal, async () => use({ bytes: await opened.read(), validator }));
}

interface Opened {
  size: number | null;
  validator: string | null;
  read(): Promise<Uint8Array>;
}

async function openWeb(
  env: Env,
  { source, project, origins }: ImagePlace,
  known: string | null,
  signal: AbortSignal,
): Promise<Opened | null> {
  const outside = createOutsideOf(env);
  const guard: HostGuard = async (url) => {
    checkOrigin(url, origins);
    await outside.guard(url);
  };
  const maxBytes = Math.min(IMAGE_BYTES, env.settings.MAX_INPUT_BYTES);
  const admit = async (bytes: number) =>
    requireQuota(await patiently(() => env.PROJECT.getByName(project).quota.takeFetched(bytes)));
  const options: HttpOptions = { fetch: outside.fetch, guard, signal, timeouts: TIMEOUTS, maxBytes, admit };
  const { response, url } = await requestHttp(source, conditions(known), options, [304]);
  if (response.status === 304) {
    await discard(response);
    return null;
  }
  const facts = readFacts(response, url);
  if (known !== null && facts.version === known) {
    await discard(response);
    return null;
  }
  try {
    checkSize(facts.size, maxBytes);
  } catch (thrown) {
    await discard(response);
    throw thrown;
  }
  return {
    size: facts.size,
    validator: facts.version,
    async read() {
      const body = createHttpSource(facts, options, { first: response });
      return facts.size === null ? readAll(toStream(body)) : readSource(body, facts.size);
    },
  };
}

// A version is an ETag as sent, or else a date.
function conditions(known: string | null): Record<string, string> {
  if (known === null) return {};
  return /^(W\/)?"/.test(known) ? { "If-None-Match": known } : { "If-Modified-Since": known };
}

function checkOrigin(url: string | URL, origins: readonly string[] | null): void {
  if (origins === null || origins.includes(new URL(url).origin)) return;
  throw new MediaError(
    "input_forbidden",
    "The source redirects to another origin than those that image URLs may use without a signature.",
  );
}

async function openStored(
  env: Env,
  { source, project }: ImagePlace,
  known: string | null,
): Promise<Opened | null> {
  const storage = mediaStorage(env);
  const info = await storage.head(source);
  if (!info) throw new MediaError("media_not_found", "There is no such output, or no more.");
  if (info.etag === known) return null;
  checkSize(info.size, IMAGE_BYTES);
  requireQuota(await patiently(() => env.PROJECT.getByName(project).quota.takeFetched(0)));
  return {
    size: info.size,
    validator: info.etag,
    async read() {
      const stored = await storage.read(source);
      if (!stored) throw new MediaError("media_not_found", "There is no such output, or no more.");
      return readAll(stored.body);
    },
  };
}
