import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { pipeline } from "node:stream";
import { adaptiveMime } from "../../src/media/ffmpeg/output-files.ts";

const CORS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": "*",
  "Access-Control-Expose-Headers": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
} as const;
const MIMES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
};

/** Serves a file of the folder, whole or a range of it, with CORS; `path` begins with a slash. */
export function answerFile(
  folder: string,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const file = join(folder, normalize(decodeURIComponent(path)));
  return sendFile(file, MIMES[extname(file)] ?? adaptiveMime(file), request, response);
}

/** Serves a file, whole or a range of it, with CORS. */
export async function sendFile(
  file: string,
  type: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const stats = await stat(file).catch(() => null);
  // The client may have disconnected.
  if (response.destroyed) return;
  for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
  if (request.method === "OPTIONS") return void response.writeHead(204).end();
  if (!stats?.isFile()) return void response.writeHead(404).end();
  const { size, mtimeMs } = stats;
  response.setHeader("Content-Type", type);
  response.setHeader("Accept-Ranges", "bytes");
  response.setHeader("ETag", `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`);
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
  const start = Number(range?.[1] ?? 0);
  const end = range?.[2] ? Math.min(size, Number(range[2]) + 1) : size;
  if (range && start >= end) {
    return void response.writeHead(416, { "Content-Range": `bytes */${size}` }).end();
  }
  if (range) response.setHeader("Content-Range", `bytes ${start}-${end - 1}/${size}`);
  response.writeHead(range ? 206 : 200, { "Content-Length": end - start });
  if (request.method === "HEAD" || start === end) return void response.end();
  pipeline(createReadStream(file, { start, end: end - 1 }), response, () => response.destroy());
}

/** Starts a server on a free port of this machine. */
export async function listenHere(server: Server): Promise<{ url: string; close(): void }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
