import { createReadStream } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, relative, resolve } from "node:path";
import { pipeline } from "node:stream";
import { pipeline as streamPipeline } from "node:stream/promises";
import { manifestEntries, manifestsOf } from "../../src/media/ffmpeg/manifest-entries.ts";
import * as errors from "./errors.ts";

/** A local file served at a URL. */
export interface ServedFile {
  url: string;
  close(): void;
}

/**
 * Serves one file on loopback, with range requests (RFC 9110, section 14), and checks the Host header against DNS rebinding. Throws a
 * MediaError when the file does not exist.
 */
export async function serveFile(path: string): Promise<ServedFile> {
  const stats = await stat(path).catch(() => null);
  if (!stats?.isFile()) throw errors.fileNotFound({ path });
  const { size, mtimeMs } = stats;
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

function parseRange(header: string | undefined, size: number) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  const [, first = "", last = ""] = match ?? [];
  if (!first && !last) return { start: 0, end: size, partial: false };
  const start = first ? Number(first) : Math.max(0, size - Number(last));
  const end = first && last ? Math.min(size, Number(last) + 1) : size;
  return start < end ? { start, end, partial: true } : null;
}

/** Downloads a URL to a file, atomically, and returns its size in bytes. */
export async function download(url: string, path: string): Promise<number> {
  const response = await fetch(url);
  if (!response.ok || !response.body) {
    throw errors.outputUnavailable({ status: response.status });
  }
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.part`;
  // Opens the file now: a stream that opened it after `rm` would leave it behind.
  const file = (await open(part, "w")).createWriteStream();
  try {
    await streamPipeline(response.body, file);
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
  return file.bytesWritten;
}

/** Downloads the manifests of a stream and every file they refer to into a folder, in the same layout; returns how many files and bytes. */
export async function downloadStream(
  url: string,
  folder: string,
  format: string,
): Promise<{ files: number; bytes: number }> {
  const base = new URL(".", url);
  const visited = new Set<string>();
  let bytes = 0;
  const queue = manifestsOf(url, format);
  for (let next = queue.shift(); next; next = queue.shift()) {
    const name = decodeURIComponent(new URL(next).pathname.slice(base.pathname.length));
    const path = resolve(folder, name);
    if (visited.has(next) || !next.startsWith(base.href) || relative(folder, path).startsWith("..")) continue;
    visited.add(next);
    bytes += await download(next, path);
    if (!/\.(m3u8|mpd)$/.test(name)) continue;
    const entries = manifestEntries(await readFile(path, "utf8"));
    queue.push(...entries.map((uri) => new URL(uri, next).href));
  }
  return { files: visited.size, bytes };
}
