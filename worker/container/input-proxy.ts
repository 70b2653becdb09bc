import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { RemoteFiles } from "../../src/encoders/encoder.ts";
import { type MediaError, toMediaError } from "../../src/media/errors.ts";
import { sleep } from "../../src/util/async.ts";
import { MIB } from "../../src/util/bytes.ts";
import { createBlocks, type ReadBlock, type ReadBlocks } from "./input-blocks.ts";
import { readInput } from "./read-input.ts";

/** An input of a job at a loopback URL, for ffmpeg. */
export interface ServedInput {
  url: string;
  /** Bytes sent to ffmpeg so far. */
  sent(): number;
  /** True while ffmpeg waits for bytes that are being fetched. */
  isWaiting(): boolean;
  close(): void;
}

/** Serves the inputs of jobs on loopback, so that ffmpeg needs no network access and no retries. */
export interface InputProxy {
  /** Serves an input at an unguessable URL; calls `fail` with the error that ends the job. */
  serve(input: RemoteFiles["input"], fail: (error: MediaError) => void): ServedInput;
  close(): Promise<void>;
}

interface Entry {
  size: number;
  block: ReadBlock;
  fail(error: unknown): void;
  sent: number;
  /** Responses that wait for a block. */
  waiting: number;
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
    serve(input, fail) {
      // Without an extension, by which ffmpeg would choose a demuxer.
      const path = `/${randomBytes(24).toString("hex")}`;
      const closed = new AbortController();
      const read: ReadBlocks = async (first, count) => {
        const start = first * BLOCK_BYTES;
        const end = Math.min(start + count * BLOCK_BYTES, input.size);
        const bytes = await readInput(input, { start, end }, closed.signal);
        const blockAt = (at: number) => bytes.subarray(at * BLOCK_BYTES, (at + 1) * BLOCK_BYTES);
        return Array.from({ length: count }, (_, at) => blockAt(at));
      };
      const entry: Entry = {
        size: input.size,
        block: createBlocks(read, { count: Math.ceil(input.size / BLOCK_BYTES), ...BLOCKS }),
        fail: (thrown) => closed.signal.aborted || fail(toMediaError(thrown, "input_unreachable")),
        sent: 0,
        waiting: 0,
      };
      entries.set(path, entry);
      return {
        url: origin + path,
        sent: () => entry.sent,
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

async function answer(entry: Entry, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { size } = entry;
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
    const bytes = await blockOf(entry, index);
    const from = at - index * BLOCK_BYTES;
    const piece = bytes.subarray(from, Math.min(bytes.length, from + end - at));
    at += piece.length;
    if (!response.write(piece)) await drained(response);
    entry.sent += piece.length;
    // A reader of headers seeks at once, so wait a moment before fetching what follows.
    if (index === Math.floor(start / BLOCK_BYTES)) await sleep(JUMP_MS);
  }
  response.end();
}

async function blockOf(entry: Entry, index: number): Promise<Uint8Array> {
  entry.waiting++;
  try {
    return await entry.block(index);
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
