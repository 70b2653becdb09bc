import { MediaError } from "../../src/core/errors.ts";
import { LIGHT_INPUT } from "../../src/encoders/light/light-limits.ts";
import { readSource, toStream } from "../../src/storage/http/byte-source.ts";
import type { HostGuard } from "../../src/storage/http/host-guard.ts";
import { readFacts } from "../../src/storage/http/http-facts.ts";
import { discard, type HttpOptions, requestHttp } from "../../src/storage/http/http-request.ts";
import { checkSize, createHttpSource } from "../../src/storage/http/http-stream.ts";
import { readAll } from "../../src/storage/read-all.ts";
import { MIB } from "../../src/util/bytes.ts";
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
// An isolate has 128 MB, and its objects share them: 40 MiB for sources, the rest for the pictures made of them and for code.
const WAIT_MS = 10_000;
const room = createByteBudget(IMAGE_BYTES, WAIT_MS);
// What a source of unknown size has at first comes from room of its own: else each could wait for that of another.
const FIRST_BYTES = 2 * MIB;
const firstRoom = createByteBudget(40 * MIB - IMAGE_BYTES, WAIT_MS);
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
  try {
    const reading = () => opened.read(signal, (bytes) => use({ bytes, validator }));
    return await (size === null
      ? firstRoom.hold(FIRST_BYTES, signal, reading)
      : room.hold(size, signal, reading));
  } catch (thrown) {
    await opened.close();
    throw thrown;
  }
}

interface Opened {
  size: number | null;
  validator: string | null;
  read<T>(signal: AbortSignal, use: (bytes: Uint8Array) => Promise<T>): Promise<T>;
  /** Ends what was not read. */
  close(): Promise<void>;
}

// More room is asked for only once a source is known to need it: most of those that state no size are small.
async function readGrowing<T>(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  use: (bytes: Uint8Array) => Promise<T>,
): Promise<T> {
  const reader = body.getReader();
  try {
    const first = new Uint8Array(FIRST_BYTES);
    const { at, rest } = await fill(reader, first, 0);
    if (!rest) return await use(first.subarray(0, at));
    return await room.hold(IMAGE_BYTES, signal, async () => {
      const bytes = new Uint8Array(IMAGE_BYTES);
      bytes.set(first.subarray(0, at));
      bytes.set(rest, at);
      const whole = await fill(reader, bytes, at + rest.length);
      return use(bytes.subarray(0, whole.at));
    });
  } finally {
    await reader.cancel().catch(() => {});
  }
}

// Reads until the end, or until a part does not fit, which is then the rest.
async function fill(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  bytes: Uint8Array,
  from: number,
): Promise<{ at: number; rest: Uint8Array | null }> {
  for (let at = from; ; ) {
    const { done, value } = await reader.read();
    if (done) return { at, rest: null };
    if (at + value.length > bytes.length) return { at, rest: value };
    bytes.set(value, at);
    at += value.length;
  }
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
    async read(until, use) {
      const body = createHttpSource(facts, options, { first: response });
      if (facts.size === null) return readGrowing(toStream(body), until, use);
      return use(await readSource(body, facts.size));
    },
    close: () => discard(response),
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
    async read(_, use) {
      const stored = await storage.read(source);
      if (!stored) throw new MediaError("media_not_found", "There is no such output, or no more.");
      return use(await readAll(stored.body));
    },
    close: async () => {},
  };
}
