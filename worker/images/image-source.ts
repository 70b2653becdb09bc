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
import { errors } from "../errors.ts";
import { requireQuota } from "../limits/quota.ts";
import { patiently } from "../network/durable-objects.ts";
import { logFault } from "../observability/log.ts";
import { createByteBudget } from "./byte-budget.ts";
import type { ImagePlace } from "./image.ts";

/** A picture, with what tells its versions apart; null where there is no such thing. */
export interface ImageSource extends ImageInput {
  validator: string | null;
}

/** What may become of a source that is too large for memory. */
export interface LargeSources {
  /** Bytes that it may have. */
  most: number;
  /** Where its copy is stored until it has been used. */
  key: string;
  /** Called before there is a copy. */
  prepare(): Promise<void>;
}

/** How a source is read. */
export interface ImageReading {
  /** The version that is known already. */
  known: string | null;
  signal: AbortSignal;
  /** Null where none may be larger than {@link IMAGE_BYTES}. */
  large: LargeSources | null;
}

/** Bytes of a source that is held in memory. */
const IMAGE_BYTES = LIGHT_INPUT.image;
// An isolate has 128 MB, and its objects share them: 40 MiB for sources, the rest for the pictures made of them and for code.
const WAIT_MS = 10_000;
const room = createByteBudget(IMAGE_BYTES, WAIT_MS);
// What a source of unknown size has at first comes from room of its own: else each could wait for that of another.
const FIRST_BYTES = 2 * MIB;
const firstRoom = createByteBudget(40 * MIB - IMAGE_BYTES, WAIT_MS);
const TIMEOUTS = { headersMs: 10_000, idleMs: 10_000, totalMs: 30_000 };

/** Reads a source into memory, or stores it where it is too large for that, while `use` runs; calls nothing and returns null where `known` is still its version. */
export async function withSource<T>(
  env: Env,
  place: ImagePlace,
  reading: ImageReading,
  use: (source: ImageSource) => Promise<T>,
): Promise<T | null> {
  const read = /^https?:\/\//i.test(place.source) ? openWeb : openStored;
  const opened = await read(env, place, reading);
  if (!opened) return null;
  const { room: needed, validator } = opened;
  const { signal } = reading;
  try {
    const run = () => opened.read((input) => use({ ...input, validator }));
    return await (needed === null
      ? firstRoom.hold(FIRST_BYTES, signal, run)
      : room.hold(needed, signal, run));
  } catch (thrown) {
    await opened.close();
    throw thrown;
  }
}

interface Opened {
  /** Bytes of memory that reading takes; null where that is found out as it goes. */
  room: number | null;
  validator: string | null;
  read<T>(use: (input: ImageInput) => Promise<T>): Promise<T>;
  /** Ends what was not read. */
  close(): Promise<void>;
}

// More room is asked for only once a source is known to need it: most of those that state no size are small.
async function readGrowing<T>(
  env: Env,
  body: ReadableStream<Uint8Array>,
  { signal, large }: ImageReading,
  use: (input: ImageInput) => Promise<T>,
): Promise<T> {
  const reader = body.getReader();
  try {
    const first = new Uint8Array(FIRST_BYTES);
    const { at, rest } = await fill(reader, first, 0);
    if (!rest) return await use(heldInput(first.subarray(0, at)));
    if (large) {
      const whole = rejoin([first.subarray(0, at), rest], reader);
      return await throughStorage(env, whole, { signal, large }, use);
    }
    return await room.hold(IMAGE_BYTES, signal, async () => {
      const bytes = new Uint8Array(IMAGE_BYTES);
      bytes.set(first.subarray(0, at));
      bytes.set(rest, at);
      const whole = await fill(reader, bytes, at + rest.length);
      return use(heldInput(bytes.subarray(0, whole.at)));
    });
  } finally {
    await reader.cancel().catch(() => {});
  }
}

// A copy is read by ranges, as often as it takes, whatever the server of the source can do.
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
    const { size } = await room.hold(PASSING_BYTES, signal, write);
    return await room.hold(roomOf(size), signal, async () => use(await openInput(storage, large.key, size)));
  } finally {
    // What remains is cleared with the picture.
    await storage.clear(large.key).catch((thrown) => logFault("copy of a source not cleared", thrown));
  }
}

// One that fits is held in memory, so that the light encoder may take it.
async function openInput(storage: Storage, key: string, size: number): Promise<ImageInput> {
  if (size > IMAGE_BYTES) return storedInput(storage, key);
  const stored = await storage.read(key);
  if (!stored) throw errors.imageOutputNotFound();
  return heldInput(await readAll(stored.body));
}

const roomOf = (size: number) => (size > IMAGE_BYTES ? PASSING_BYTES : size);

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
  reading: ImageReading,
): Promise<Opened | null> {
  const { known, signal, large } = reading;
  const outside = createOutsideOf(env);
  const guard: HostGuard = async (url) => {
    checkOrigin(url, origins);
    await outside.guard(url);
  };
  const maxBytes = Math.min(large?.most ?? IMAGE_BYTES, env.settings.MAX_INPUT_BYTES);
  const admit = async (bytes: number) =>
    requireQuota(await patiently(() => env.PROJECT.getByName(project).quota.takeFetched(bytes)));
  const options: HttpOptions = { fetch: outside.fetch, guard, signal, timeouts: TIMEOUTS, maxBytes, admit };
  // Without a condition, a 304 is no answer.
  const { response, url } = await requestHttp(
    source,
    conditions(known),
    options,
    known === null ? [] : [304],
  );
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
    // A large one takes its room step by step.
    room: facts.size !== null && facts.size > IMAGE_BYTES ? 0 : facts.size,
    validator: facts.version,
    async read(use) {
      const body = createHttpSource(facts, options, { first: response });
      if (facts.size === null) return readGrowing(env, toStream(body), reading, use);
      if (large && facts.size > IMAGE_BYTES) {
        return throughStorage(env, toStream(body), { signal, large }, use);
      }
      return use(heldInput(await readSource(body, facts.size)));
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
  throw errors.imageOriginForbidden();
}

async function openStored(
  env: Env,
  { source, project }: ImagePlace,
  { known, large }: ImageReading,
): Promise<Opened | null> {
  const storage = mediaStorage(env);
  const info = await storage.head(source);
  if (!info) throw errors.imageOutputNotFound();
  if (info.etag === known) return null;
  checkSize(info.size, large?.most ?? IMAGE_BYTES);
  requireQuota(await patiently(() => env.PROJECT.getByName(project).quota.takeFetched(0)));
  return {
    room: roomOf(info.size),
    validator: info.etag,
    read: async (use) => use(await openInput(storage, source, info.size)),
    close: async () => {},
  };
}

/** A picture to read. */
export interface ImageInput {
  reader: ByteReader;
  /** All of its bytes; null where they are more than a Worker holds. */
  bytes: Uint8Array | null;
}

/** Memory that a picture takes on its way to storage and from there: parts that are written at the same time, and the next. */
const PASSING_BYTES = 16 * MIB;

// The native encoder is sent slices, of which none is read twice.
const CACHE = { minAhead: 128 * KIB, maxAhead: MIB, cacheBytes: MIB };

/** Returns a picture in memory. */
function heldInput(bytes: Uint8Array): ImageInput {
  const read = async ({ start, end }: { start: number; end: number }) => bytes.subarray(start, end);
  return { reader: { size: bytes.length, read }, bytes };
}

/** Returns a picture in storage. */
async function storedInput(storage: Storage, key: string): Promise<ImageInput> {
  return { reader: await storageReader(storage, key, CACHE), bytes: null };
}

/** The bytes that were read of a stream, and then the others. */
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
