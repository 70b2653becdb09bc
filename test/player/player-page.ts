import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { adaptiveMime } from "../../src/ffmpeg/output.ts";

const { resolve } = createRequire(import.meta.url);
const folderOf = (name: string) => /^.*node_modules\/[^/]+\//.exec(resolve(name))?.[0] ?? "";
const PLAYERS: Readonly<Record<string, string>> = {
  "/hls.js": join(folderOf("hls.js"), "dist/hls.min.js"),
  "/dash.js": join(folderOf("dashjs"), "dist/legacy/umd/dash.mediaplayer.min.js"),
  "/shaka.js": join(folderOf("shaka-player"), "dist/shaka-player.compiled.js"),
};
const PAGE = '<!doctype html><title>player</title><link rel="icon" href="data:,"><video muted></video>';

/** Serves a page with a video element at `/`, the players' scripts beside it, and a folder's files below `/stream/`. */
export async function servePlayer(folder: string): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://player").pathname);
    if (path === "/") return void response.setHeader("Content-Type", "text/html").end(PAGE);
    const file = PLAYERS[path] ?? join(folder, path.slice("/stream/".length));
    const found = await stat(file).catch(() => null);
    if (!found?.isFile()) return void response.writeHead(404).end();
    response.setHeader("Content-Type", extname(file) === ".js" ? "text/javascript" : adaptiveMime(file));
    response.setHeader("Content-Length", found.size);
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
