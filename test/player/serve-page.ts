import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { normalize } from "node:path";
import { listenHere } from "../browser/serve-files.ts";

/** Serves a page at `/`, and beside it the files that `fileOf` names for other paths, with the types of those paths. */
export async function servePage(
  html: string,
  fileOf: (path: string) => string | undefined,
  typeOf: (path: string) => string,
): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://page").pathname);
    if (path === "/") return void response.setHeader("Content-Type", "text/html").end(html);
    const file = fileOf(path);
    const found = file === undefined ? null : await stat(file).catch(() => null);
    if (file === undefined || !found?.isFile()) return void response.writeHead(404).end();
    response.setHeader("Content-Type", typeOf(path));
    response.setHeader("Content-Length", found.size);
    createReadStream(file).pipe(response);
  });
  return listenHere(server);
}
