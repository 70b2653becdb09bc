import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, extname, join, normalize } from "node:path";
import { adaptiveMime } from "../../src/ffmpeg/output.ts";

const HLS_JS = join(dirname(createRequire(import.meta.url).resolve("hls.js")), "hls.min.js");
const PAGE =
  '<!doctype html><title>player</title><link rel="icon" href="data:,"><script src="/hls.js"></script><video muted></video>';

/** Serves a page with hls.js and a video element at `/`, and a folder's files below `/stream/`. */
export async function servePlayer(folder: string): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://player").pathname);
    if (path === "/") return void response.setHeader("Content-Type", "text/html").end(PAGE);
    const file = path === "/hls.js" ? HLS_JS : join(folder, path.slice("/stream/".length));
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
