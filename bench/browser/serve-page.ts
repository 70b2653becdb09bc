import { createWriteStream } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { answerFile } from "../../test/browser/serve-files.ts";

interface PageServer {
  url: string;
  /** Returns the bytes sent since the last call, of paths that match; by default those below `/files/`. */
  takeBytes(paths?: RegExp): number;
}

/** The server's folders: the page, the files it reads by URL, and the files it saves. */
interface PageFolders {
  page: string;
  files: string;
  saved: string;
  isolated: boolean;
}

const ISOLATED = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
} as const;

/** Serves the page and the cores of ffmpeg.wasm on a free port. */
export async function servePage(folders: PageFolders, ends: AsyncDisposableStack): Promise<PageServer> {
  const transfers: { path: string; bytes: number }[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    if (folders.isolated) {
      for (const [name, value] of Object.entries(ISOLATED)) response.setHeader(name, value);
    }
    if (request.method === "PUT") return void save(folders.saved, pathname, request, response);
    const [folder, path] = placeOf(folders, pathname);
    const before = response.socket?.bytesWritten ?? 0;
    const { socket } = response;
    response.on("close", () => {
      transfers.push({ path: pathname, bytes: (socket?.bytesWritten ?? 0) - before });
    });
    void answerFile(folder, path, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    takeBytes(paths = FILES) {
      const responses = transfers.splice(0).filter(({ path }) => paths.test(path));
      return responses.reduce((sum, { bytes }) => sum + bytes, 0);
    },
  };
}

const FILES = /^\/files\//;

function placeOf({ page, files }: PageFolders, pathname: string): [folder: string, path: string] {
  const plain = /^\/plain\/(core|core-mt)(\/.*)$/.exec(pathname);
  if (plain) return [packageFolder(`@ffmpeg/${plain[1]}`), plain[2] ?? ""];
  if (pathname.startsWith("/files/")) return [files, pathname.slice("/files".length)];
  return [page, pathname === "/" ? "/index.html" : pathname];
}

function packageFolder(name: string): string {
  const main = createRequire(import.meta.url).resolve(name);
  return join(dirname(main), "..", "esm");
}

async function save(folder: string, path: string, request: IncomingMessage, response: ServerResponse) {
  await pipeline(request, createWriteStream(join(folder, basename(path))));
  response.writeHead(201).end();
}
