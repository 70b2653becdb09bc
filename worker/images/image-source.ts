import { LIGHT_INPUT } from "../../src/encoders/light/light-estimate.ts";
import type { ByteReader, Storage } from "../../src/runs/ports.ts";
import { readSource, toStream } from "../../src/storage/byte-source.ts";
import type { HostGuard } from "../../src/storage/http/host-guard.ts";
import { checkSize, createHttpSource } from "../../src/storage/http/reader.ts";
import { discard, type HttpOptions, readFacts, requestHttp } from "../../src/storage/http/request.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { readAll } from "../../src/storage/storage.ts";
import { KIB, MIB } from "../../src/util/bytes.ts";
import { createOutsideOf, type Env, mediaStorage } from "../env.ts";
import * as errors from "../errors.ts";
import { requireQuota } from "../limits/quota.ts";
import { logFault } from "../log.ts";
import { patiently } from "../network/durable-objects.ts";
import { createByteBudget } from "./byte-budget.ts";
import type { ImageOrigin } from "./image.ts";

/** The input of a picture with its version. */
export interface ImageSource extends ImageInput {
  /** An ETag as sent, otherwise a date; null for none. */
  validator: string | null;
}

/** How to read a source that is too large for memory. */
export interface LargeSources {
  /** Size limit in bytes. */
  max_bytes: number;
  /** Key of its temporary copy in storage. */
  key: string;
  /** Called before the copy is written. */
  prepare(): Promise<void>;
}

/** How a source is read. */
export interface ReadOptions {
  /** The version of the stored picture; null for none. */
  validator: string | null;
  signal: AbortSignal;
  /** How to read large sources; null to reject those larger than {@link IMAGE_BYTES}. */
  large: LargeSources | null;
}

/** Size limit, in bytes, of a source that is held in memory. */
const IMAGE_BYTES = LIGHT_INPUT.image;
// The objects of an isolate share 128 MB: 40 MiB for sources, the rest for encoded pictures and code.
const WAIT_MS = 10_000;
const memory = createByteBudget(IMAGE_BYTES, WAIT_MS);
// Sources of unknown size draw on a separate budget; sharing one could deadlock.
const FIRST_BYTES = 2 * MIB;
const unknownSizeMemory = createByteBudget(40 * MIB - IMAGE_BYTES, WAIT_MS);
const TIMEOUTS = { headersMs: 10_000, idleMs: 10_000, totalMs: 30_000 };

/** Reads a source into memory, or copies a large one to storage, and holds it while `use` runs. Returns null without calling `use` while the source still has the version `validator`. */
export async function withSource<T>(
  env: Env,
  place: ImageOrigin,
  reading: ReadOptions,
  use: (source: ImageSource) => Promise<T>,
): Promise<T | null> {
  const read = /^https?:\/\//i.test(place.source) ? openWeb : openStored;
  const source = await read(env, place, reading);
  if (!source) return null;
  const { memory_bytes: bytes, validator } = source;
  const { signal } = reading;
  try {
    const run = () => source.read((input) => use({ ...input, validator }));
    return await (bytes === null
      ? unknownSizeMemory.hold(FIRST_BYTES, signal, run)
      : memory.hold(bytes, signal, run));
  } catch (thrown) {
    await source.close();
    throw thrown;
  }
}

interface OpenSource {
  /** Bytes of memory to reserve for reading; null when the size is unknown. */
  memory_bytes: number | null;
  validator: string | null;
  read<T>(use: (input: ImageInput) => Promise<T>): Promise<T>;
  /** Cancels an unread response. */
  close(): Promise<void>;
}

async function readGrowing<T>(
  env: Env,
  body: ReadableStream<Uint8Array>,
  { signal, large }: ReadOptions,
  use: (input: ImageInput) => Promise<T>,
): Promise<T> {
  const reader = body.getReader();
  try {
    const first = new Uint8Array(FIRST_BYTES);
    const { at, rest } = await fill(reader, first, 0);
    if (!rest) return await use(memoryInput(first.subarray(0, at)));
    if (large) {
      const whole = rejoin([first.subarray(0, at), rest], reader);
      return await throughStorage(env, whole, { signal, large }, use);
    }
    return await memory.hold(IMAGE_BYTES, signal, async () => {
      const bytes = new Uint8Array(IMAGE_BYTES);
      bytes.set(first.subarray(0, at));
      bytes.set(rest, at);
      const whole = await fill(reader, bytes, at + rest.length);
      return use(memoryInput(bytes.subarray(0, whole.at)));
    });
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function throughStorage<T>(
  env: Env,
  body: ReadableStream<Uint8Array>,
  { signal, large }: { signal: AbortSignal; large: LargeSources },
  use: (input: ImageInput) => Promise<T>,
): Promise<T> {
  const storage = mediaStorage(env);
  await large.prepare();
  try {
    const write = () => storage.write(large.key, body, "application/octet-stream");
    const { size } = await memory.hold(TRANSFER_BYTES, signal, write);
    return await memory.hold(memoryFor(size), signal, async () =>
      use(await openInput(storage, large.key, size)),
    );
  } finally {
    await storage.clear(large.key).catch((thrown) => logFault("copy of a source not cleared", thrown));
  }
}

async function openInput(storage: Storage, key: string, size: number): Promise<ImageInput> {
  if (size > IMAGE_BYTES) return storedInput(storage, key);
  const stored = await storage.read(key);
  if (!stored) throw errors.imageOutputNotFound();
  return memoryInput(await readAll(stored.body));
}

const memoryFor = (size: number) => (size > IMAGE_BYTES ? TRANSFER_BYTES : size);

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
  { source, project, origins }: ImageOrigin,
  reading: ReadOptions,
): Promise<OpenSource | null> {
  const { validator, signal, large } = reading;
  const outside = createOutsideOf(env);
  const guard: HostGuard = async (url) => {
    checkOrigin(url, origins);
    await outside.guard(url);
  };
  const maxBytes = Math.min(large?.max_bytes ?? IMAGE_BYTES, env.settings.MAX_INPUT_BYTES);
  const admit = async (bytes: number) =>
    requireQuota(await patiently(() => env.PROJECT.getByName(project).quota.takeFetched(bytes)));
  const options: HttpOptions = { fetch: outside.fetch, guard, signal, timeouts: TIMEOUTS, maxBytes, admit };
  const { response, url } = await requestHttp(
    source,
    conditions(validator),
    options,
    validator === null ? [] : [304],
  );
  if (response.status === 304) {
    await discard(response);
    return null;
  }
  const facts = readFacts(response, url);
  if (validator !== null && facts.version === validator) {
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
    memory_bytes: facts.size !== null && facts.size > IMAGE_BYTES ? 0 : facts.size,
    validator: facts.version,
    async read(use) {
      const body = createHttpSource(facts, options, { first: response });
      if (facts.size === null) return readGrowing(env, toStream(body), reading, use);
      if (large && facts.size > IMAGE_BYTES) {
        return throughStorage(env, toStream(body), { signal, large }, use);
      }
      return use(memoryInput(await readSource(body, facts.size)));
    },
    close: () => discard(response),
  };
}

function conditions(validator: string | null): Record<string, string> {
  if (validator === null) return {};
  return /^(W\/)?"/.test(validator) ? { "If-None-Match": validator } : { "If-Modified-Since": validator };
}

function checkOrigin(url: string | URL, origins: readonly string[] | null): void {
  if (origins === null || origins.includes(new URL(url).origin)) return;
  throw errors.imageOriginForbidden();
}

async function openStored(
  env: Env,
  { source, project }: ImageOrigin,
  { validator, large }: ReadOptions,
): Promise<OpenSource | null> {
  const storage = mediaStorage(env);
  const info = await storage.head(source);
  if (!info) throw errors.imageOutputNotFound();
  if (info.etag === validator) return null;
  checkSize(info.size, large?.max_bytes ?? IMAGE_BYTES);
  requireQuota(await patiently(() => env.PROJECT.getByName(project).quota.takeFetched(0)));
  return {
    memory_bytes: memoryFor(info.size),
    validator: info.etag,
    read: async (use) => use(await openInput(storage, source, info.size)),
    close: async () => {},
  };
}

/** The input of a picture. */
export interface ImageInput {
  reader: ByteReader;
  /** All bytes of the source; null if they are in storage, because they exceed memory. */
  bytes: Uint8Array | null;
}

/** Memory of a transfer to or from storage: two parts in flight and the next one. */
const TRANSFER_BYTES = 16 * MIB;

const CACHE = { minAhead: 128 * KIB, maxAhead: MIB, cacheBytes: MIB };

function memoryInput(bytes: Uint8Array): ImageInput {
  const read = async ({ start, end }: { start: number; end: number }) => bytes.subarray(start, end);
  return { reader: { size: bytes.length, read }, bytes };
}

async function storedInput(storage: Storage, key: string): Promise<ImageInput> {
  return { reader: await storageReader(storage, key, CACHE), bytes: null };
}

/** Returns a stream of the chunks already read, followed by the rest. */
function rejoin(
  read: readonly Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  const ready = [...read];
  return new ReadableStream(
    {
      async pull(controller) {
        const first = ready.shift();
        const { done, value } = first ? { done: false, value: first } : await reader.read();
        if (done || !value) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
