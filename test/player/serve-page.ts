import { createServer } from "node:http";
import { normalize } from "node:path";
import { listenHere, sendFile } from "../browser/serve-files.ts";

/** Serves a page at `/`, and beside it the files that `fileOf` names for other paths, whole or ranges of them, with the types of those paths. */
export async function servePage(
  html: string,
  fileOf: (path: string) => string | undefined,
  typeOf: (path: string) => string,
): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://page").pathname);
    if (path === "/") return void response.setHeader("Content-Type", "text/html").end(html);
    const file = fileOf(path);
    if (file === undefined) return void response.writeHead(404).end();
    return sendFile(file, typeOf(path), request, response);
  });
  return listenHere(server);
}
