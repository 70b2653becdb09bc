import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { arrayBuffer } from "node:stream/consumers";
import type { RemoteFiles } from "../../../src/encoders/encoder.ts";

/** A picture in memory, at URLs that a job reads and writes like any others. */
export interface ServedPicture {
  files: RemoteFiles;
  /** The output of the job; null for none. */
  written(): Uint8Array<ArrayBuffer> | null;
  /** Whether the job failed because its output was too large. */
  isTooLarge(): boolean;
  close(): void;
}

/** Serves pictures to jobs on loopback. */
export interface PictureServer {
  serve(bytes: Uint8Array): ServedPicture;
  close(): void;
}

interface Entry {
  bytes: Uint8Array;
  written: Uint8Array<ArrayBuffer> | null;
  isTooLarge: boolean;
}

const NAME = "picture";

/** Starts the server of pictures on a free port. */
export async function startPictureServer(): Promise<PictureServer> {
  const entries = new Map<string, Entry>();
  const server = createServer((request, response) => {
    const [, path = "", name] = /^\/(\w+)(?:\/(\w+))?$/.exec(request.url?.split("?")[0] ?? "") ?? [];
    const entry = entries.get(path);
    if (!entry) response.writeHead(404).end();
    else if (name === undefined) read(entry, request, response);
    else write(entry, request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    serve(bytes) {
      const path = randomBytes(24).toString("hex");
      const entry: Entry = { bytes, written: null, isTooLarge: false };
      entries.set(path, entry);
      const url = `${origin}/${path}`;
      return {
        files: { input: { url, size: bytes.length, etag: "" }, folder: `${url}/`, name: NAME },
        written: () => entry.written,
        isTooLarge: () => entry.isTooLarge,
        close: () => entries.delete(path),
      };
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function read({ bytes }: Entry, { headers }: IncomingMessage, response: ServerResponse): void {
  const [, first = "0", last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
  const start = Number(first);
  const end = Math.min(bytes.length, last ? Number(last) + 1 : bytes.length);
  const range = `bytes ${start}-${end - 1}/${bytes.length}`;
  response.writeHead(206, { "Content-Range": range, "Content-Length": end - start });
  response.end(bytes.subarray(start, end));
}

// A file above the limit is uploaded in parts, which begin with a POST.
async function write(entry: Entry, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "PUT") {
    entry.isTooLarge = true;
    response.writeHead(413).end();
    return;
  }
  entry.written = new Uint8Array(await arrayBuffer(request));
  const answer = { size: entry.written.length, etag: "" };
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
}
