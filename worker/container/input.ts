import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { RemoteFiles } from "../../src/encoders/encoder.ts";
import { type NewFile, type Repair, type Repairable, startRepair } from "../../src/encoders/file-repair.ts";
import { type MediaError, toMediaError } from "../../src/media/errors.ts";
import type { ByteRange } from "../../src/runs/ports.ts";
import * as httpErrors from "../../src/storage/errors.ts";
import { type Filling, fillExactly } from "../../src/storage/http/reader.ts";
import { contentLength, discard, parseContentRange, requestHttp } from "../../src/storage/http/request.ts";
import { doubling, retry, sleep } from "../../src/util/async.ts";
import { MIB } from "../../src/util/bytes.ts";
import * as errors from "./errors.ts";
import { createBlocks, type ReadBlock, type ReadBlocks } from "./input-blocks.ts";

/** Attempts to read a range, and the first pause between them, which doubles each time. */
export const READ_TRIES = { max: 5, pauseMs: 200 } as const;

const TIMEOUTS = { headersMs: 15_000, idleMs: 15_000 } as const;

/**
 * Reads a range of a job's input, and resumes a few times after network errors. Rejects with `input_unreachable`, `input_not_found` or
 * `input_forbidden`, and at once with `input_changed` when the source is no longer the one that was probed.
 */
export async function readInput(
  input: RemoteFiles["input"],
  range: ByteRange,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const filling: Filling = { bytes: new Uint8Array(range.end - range.start), filled: 0 };
  const read = () =>
    readRest(input, range, filling, signal).catch((thrown: unknown) => {
      signal.throwIfAborted();
      throw toMediaError(thrown, "input_unreachable");
    });
  await retry(read, {
    tries: READ_TRIES.max,
    pauseMs: doubling(READ_TRIES.pauseMs),
    signal,
    helps: (thrown) => !signal.aborted && toMediaError(thrown).retryable,
  });
  return filling.bytes;
}

async function readRest(
  { url, size, etag }: RemoteFiles["input"],
  range: ByteRange,
  filling: Filling,
  signal: AbortSignal,
): Promise<void> {
  const strong = etag !== "" && !etag.startsWith("W/");
  // Only a strong ETag proves that the rest belongs to the same version; without one, read from the start.
  if (!strong) filling.filled = 0;
  const start = range.start + filling.filled;
  const { end } = range;
  const headers = {
    Range: `bytes=${start}-${end - 1}`,
    ...(strong && { "If-Range": `"${bare(etag)}"` }),
  };
  // The service gives final URLs: a redirect does not come from it, and could lead anywhere.
  const guard = (at: string | URL) => {
    if (String(at) === url) return;
    throw errors.inputRedirected();
  };
  const options = { fetch: (at: string, init: RequestInit) => fetch(at, init), guard, signal };
  const { response } = await requestHttp(url, headers, { ...options, timeouts: TIMEOUTS }, [412, 416]);
  try {
    if (response.status === 412) throw errors.inputChanged();
    const received = parseContentRange(response.headers.get("content-range"));
    const current = response.headers.get("etag");
    const same = current === null || etag === "" || bare(current) === bare(etag);
    // A complete file in response to If-Range is another version.
    const total = response.status === 206 ? received?.total : contentLength(response);
    if (!same || (total != null && total !== size)) throw errors.inputChanged();
    if (response.status !== 206) {
      throw current === null ? httpErrors.noRanges({ url }) : errors.inputChanged();
    }
    if (received?.start !== start || received.end !== end) {
      throw httpErrors.rangeNotSent({ url });
    }
    await fillExactly(response, filling, { idleMs: TIMEOUTS.idleMs, signal, url });
  } catch (thrown) {
    await discard(response);
    throw thrown;
  }
}

function bare(etag: string): string {
  return etag.replace(/^W\//, "").replaceAll('"', "");
}

/** An input of a job at a loopback URL, for ffmpeg. */
export interface ServedInput {
  url: string;
  /** Bytes sent to ffmpeg so far. */
  sentBytes(): number;
  /** Returns whether ffmpeg waits for bytes that are being fetched. */
  isWaiting(): boolean;
  close(): void;
}

/** Serves the inputs of jobs on loopback, so that ffmpeg needs no network access and no retries. */
export interface InputProxy {
  /** Serves an input at an unguessable URL, repaired if `repairable` is set; calls `fail` with the error that ends the job. */
  serve(input: RemoteFiles["input"], fail: (error: MediaError) => void, repairable?: Repairable): ServedInput;
  close(): Promise<void>;
}

interface Entry {
  /** Opens the file: its size and its bytes. */
  open(): Promise<OpenFile>;
  fail(error: unknown): void;
  sentBytes: number;
  /** Responses that wait for a block. */
  waiting: number;
}

interface OpenFile {
  size: number;
  block: ReadBlock;
}

const BLOCK_BYTES = MIB / 4;
const JUMP_MS = 10;
// 24 MB a job: a file with pictures and sound far apart is read in two places alternately.
const BLOCKS = { keep: 64, ahead: 32 } as const;

/** Starts the proxy on a free port. */
export async function startInputProxy(): Promise<InputProxy> {
  const entries = new Map<string, Entry>();
  const server = createServer((request, response) => {
    const entry = entries.get(request.url ?? "");
    if (!entry) response.writeHead(404).end();
    else answer(entry, request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    serve(input, fail, repairable) {
      // ffmpeg would choose a demuxer by an extension.
      const path = `/${randomBytes(24).toString("hex")}`;
      const closed = new AbortController();
      const readRange = (range: ByteRange) => readInput(input, range, closed.signal);
      let file: Promise<OpenFile> | undefined;
      const entry: Entry = {
        open: () => (file ??= openFile(input.size, readRange, repairable)),
        fail: (thrown) => closed.signal.aborted || fail(toMediaError(thrown, "input_unreachable")),
        sentBytes: 0,
        waiting: 0,
      };
      entries.set(path, entry);
      return {
        url: origin + path,
        sentBytes: () => entry.sentBytes,
        isWaiting: () => entry.waiting > 0,
        close() {
          entries.delete(path);
          closed.abort();
        },
      };
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type ReadRange = (range: ByteRange) => Promise<Uint8Array>;

async function openFile(size: number, readRange: ReadRange, repairable?: Repairable): Promise<OpenFile> {
  const repair = repairable ? await openRepair(startRepair(repairable, size), readRange) : null;
  if (repair && "file" in repair) {
    const { file } = repair;
    return { size: file.length, block: async (index) => blockOf(file, index) };
  }
  const applyInTurn = repair && repairInTurn(repair);
  const read: ReadBlocks = async (first, count) => {
    const start = first * BLOCK_BYTES;
    const reading = readRange({ start, end: Math.min(start + count * BLOCK_BYTES, size) });
    const bytes = await (applyInTurn ? applyInTurn(reading, start) : reading);
    return Array.from({ length: count }, (_, at) => blockOf(bytes, at));
  };
  return { size, block: createBlocks(read, { count: Math.ceil(size / BLOCK_BYTES), ...BLOCKS }) };
}

function blockOf(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.subarray(at * BLOCK_BYTES, (at + 1) * BLOCK_BYTES);
}

async function openRepair(
  starting: ReturnType<typeof startRepair>,
  read: ReadRange,
): Promise<Repair | NewFile | null> {
  let step = starting.next();
  while (!step.done) step = starting.next(await read(step.value));
  return step.value;
}

// A repair must see the file in order, but ranges that are read ahead may arrive out of order.
function repairInTurn(repair: Repair) {
  let before: Promise<unknown> = Promise.resolve();
  return async (reading: Promise<Uint8Array>, start: number): Promise<Uint8Array> => {
    const arrival = Promise.allSettled([before, reading]).then(() => {});
    before = arrival;
    await arrival;
    return repair.apply(await reading, start);
  };
}

async function answer(entry: Entry, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { size, block } = await waited(entry, entry.open());
  const [, first] = /^bytes=(\d+)-/.exec(request.headers.range ?? "") ?? [];
  const last = Number(/-(\d+)$/.exec(request.headers.range ?? "")?.[1] ?? size - 1);
  const start = Number(first ?? 0);
  const end = Math.min(size, last + 1);
  const headers = { "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream" };
  if (size > 0 && start >= end) {
    response.writeHead(416, { ...headers, "Content-Range": `bytes */${size}` }).end();
    return;
  }
  const range = first === undefined ? {} : { "Content-Range": `bytes ${start}-${end - 1}/${size}` };
  response.writeHead(first === undefined ? 200 : 206, {
    ...headers,
    ...range,
    "Content-Length": end - start,
  });
  if (request.method === "HEAD") return void response.end();
  for (let at = start; at < end && !response.destroyed; ) {
    const index = Math.floor(at / BLOCK_BYTES);
    const bytes = await waited(entry, block(index));
    const from = at - index * BLOCK_BYTES;
    const piece = bytes.subarray(from, Math.min(bytes.length, from + end - at));
    at += piece.length;
    if (!response.write(piece)) await drained(response);
    entry.sentBytes += piece.length;
    // A reader of headers seeks at once, so wait a moment before fetching what follows.
    if (index === Math.floor(start / BLOCK_BYTES)) await sleep(JUMP_MS);
  }
  response.end();
}

/** Counts a response as waiting while its bytes are being fetched. */
async function waited<T>(entry: Entry, reading: Promise<T>): Promise<T> {
  entry.waiting++;
  try {
    return await reading;
  } catch (thrown) {
    entry.fail(thrown);
    throw thrown;
  } finally {
    entry.waiting--;
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const closed = () => {
      response.off("drain", closed).off("close", closed);
      resolve();
    };
    response.on("drain", closed).on("close", closed);
    if (response.destroyed) closed();
  });
}
