import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { VirtualFile } from "../../test/fixtures/virtual-file.ts";

/** The bytes fetched from a remote since the last call. */
export interface Fetched {
  /** Bytes of bodies passed to the network. */
  bytes: number;
  requests: number;
}

/** One file on a server that sends at the speed of a network. */
export interface Remote {
  url: string;
  /** Returns the bytes fetched since the last call, once every connection is silent. */
  take(): Promise<Fetched>;
}

// About 100 Mbit/s. Unthrottled, loopback accepts up to 4 MB before the client has read the first of them, and a client that
// requests an open range and hangs up early would be charged for bytes that it never saw.
const PIECE = 16_384;
const PAUSE_MS = 1;

/** Waits until this number of further bytes may be sent. */
type Pace = (bytes: number) => Promise<void>;

/**
 * Serves one file with byte ranges and counts what is sent: each response at about 12 MB per second, or all together at a
 * given number of bytes per second.
 */
export async function startRemote(
  file: VirtualFile,
  name: string,
  ends: AsyncDisposableStack,
  bytesPerSecond?: number,
): Promise<Remote> {
  const pace: Pace = bytesPerSecond ? createPace(bytesPerSecond) : () => sleep(PAUSE_MS);
  let fetched: Fetched = { bytes: 0, requests: 0 };
  let open = 0;
  const server = createServer((request, response) => {
    fetched.requests++;
    const { start, end, partial } = readRange(request.headers.range, file.size);
    const headers = { "Accept-Ranges": "bytes", "Content-Length": end - start, ETag: '"1"' };
    const range = `bytes ${start}-${end - 1}/${file.size}`;
    response.writeHead(partial ? 206 : 200, { ...headers, ...(partial && { "Content-Range": range }) });
    if (request.method === "HEAD") return void response.end();
    open++;
    const count = (bytes: number) => {
      fetched.bytes += bytes;
    };
    sendPaced(response, file.read(start, end), pace, count).finally(() => {
      open--;
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.defer(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`,
    async take() {
      while (open > 0) await sleep(PAUSE_MS);
      const result = fetched;
      fetched = { bytes: 0, requests: 0 };
      return result;
    },
  };
}

async function sendPaced(
  response: ServerResponse,
  pieces: Iterable<Uint8Array>,
  pace: Pace,
  count: (bytes: number) => void,
): Promise<void> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += PIECE) {
      if (response.destroyed) return;
      const bytes = piece.subarray(at, at + PIECE);
      count(bytes.length);
      if (!response.write(bytes)) await drained(response);
      await pace(bytes.length);
    }
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      response.off("drain", over).off("close", over);
      resolve();
    };
    response.on("drain", over).on("close", over);
  });
}

function createPace(bytesPerSecond: number): Pace {
  // The time at which everything taken so far will have been sent.
  let drainTime = 0;
  return async (bytes) => {
    const now = performance.now();
    drainTime = Math.max(drainTime, now) + (bytes / bytesPerSecond) * 1000;
    if (drainTime - now > PAUSE_MS) await sleep(drainTime - now);
  };
}

function readRange(header: string | undefined, size: number) {
  const match = /^bytes=(\d+)-(\d*)$/.exec(header ?? "");
  const start = Math.min(size, Number(match?.[1] ?? 0));
  const end = match?.[2] ? Math.min(size, Number(match[2]) + 1) : size;
  return { start, end, partial: match !== null };
}
