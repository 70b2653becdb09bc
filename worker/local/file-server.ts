import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import { pipeline } from "node:stream";
import { errors } from "./errors.ts";

/** A local file served at a URL. */
export interface ServedFile {
  url: string;
  close(): void;
}

/**
 * Serves one file on loopback, with range requests (RFC 9110, section 14), but not to a page that DNS rebinding made one of this
 * machine; throws a MediaError when the file does not
 * exist.
 */
export async function serveFile(path: string): Promise<ServedFile> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw errors.fileNotFound({ path });
  const { size, mtimeMs } = found;
  const server = createServer((request, response) => {
    if (request.headers.host !== `127.0.0.1:${request.socket.localPort}`) {
      response.writeHead(403).end();
      return;
    }
    response.setHeader("Accept-Ranges", "bytes");
    response.setHeader("ETag", `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`);
    const range = parseRange(request.headers.range, size);
    if (!range) {
      response.writeHead(416, { "Content-Range": `bytes */${size}` }).end();
      return;
    }
    const { start, end, partial } = range;
    if (partial) response.setHeader("Content-Range", `bytes ${start}-${end - 1}/${size}`);
    response.writeHead(partial ? 206 : 200, { "Content-Length": end - start });
    if (request.method === "HEAD" || end === start) response.end();
    else send(path, start, end, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${encodeURIComponent(basename(path))}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function send(path: string, start: number, end: number, response: ServerResponse): void {
  pipeline(createReadStream(path, { start, end: end - 1 }), response, () => response.destroy());
}

// Returns null for a range outside the file. A request for several ranges gets the whole file, which the RFC allows.
function parseRange(header: string | undefined, size: number) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  const [, first = "", last = ""] = match ?? [];
  if (!first && !last) return { start: 0, end: size, partial: false };
  const start = first ? Number(first) : Math.max(0, size - Number(last));
  const end = first && last ? Math.min(size, Number(last) + 1) : size;
  return start < end ? { start, end, partial: true } : null;
}
