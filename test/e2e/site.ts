import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { buildOffline } from "../../worker/local/build/build-page.ts";

const MIMES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".wasm": "application/wasm",
};

/** The page on its own static file server, which follows the rules in `_headers`. */
export interface Site {
  url: string;
  /** Requested paths and the status of the answers. */
  requests: { path: string; status: number }[];
  /** Serves another folder from now on. */
  turnTo(folder: string): void;
  /** Stops the server, as if the network were gone. */
  close(): void;
}

/** Serves the built page of a folder on a free port. */
export async function openSite(first: string): Promise<Site> {
  let folder = first;
  const requests: Site["requests"] = [];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://host").pathname;
    const file = join(folder, path === "/" ? "index.html" : extname(path) ? path : `${path}.html`);
    const [bytes, rules] = await Promise.all([
      readFile(file).catch(() => null),
      readFile(join(folder, "_headers"), "utf8"),
    ]);
    for (const [name, value] of headersFor(path, rules)) response.setHeader(name, value);
    response.setHeader("Content-Type", MIMES[extname(file)] ?? "application/octet-stream");
    response.writeHead(bytes ? 200 : 404).end(bytes ?? "");
    requests.push({ path, status: response.statusCode });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    turnTo(next) {
      folder = next;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function headersFor(path: string, rules: string): [string, string][] {
  const headers: [string, string][] = [];
  for (const block of rules.split(/\n(?=\/)/)) {
    const [pattern = "", ...lines] = block.trim().split("\n");
    const isMatch = pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
    if (!isMatch) continue;
    for (const line of lines) {
      const [, name = "", value = ""] = /^\s+([^:]+): (.*)$/.exec(line) ?? [];
      if (name) headers.push([name, value]);
    }
  }
  return headers;
}

/** Copies the page's files from an assets folder, with a stand-in of a few bytes for each core; one that has not been built stays empty. */
export async function copyPage(assets: string, folder: string): Promise<void> {
  await mkdir(join(folder, "app"), { recursive: true });
  const pages = (await readdir(assets)).filter((name) => name.endsWith(".html"));
  for (const name of [...pages, "_headers", "icon.svg", "manifest.webmanifest", "icons"]) {
    await cp(join(assets, name), join(folder, name), { recursive: true });
  }
  for (const name of await readdir(join(assets, "app"))) {
    const target = join(folder, "app", name);
    const { size } = await stat(join(assets, "app", name));
    if (name.endsWith(".gz") && size > 0) await writeFile(target, STAND_IN);
    else await cp(join(assets, "app", name), target);
  }
  await buildOffline(folder);
}

// A gzipped empty file.
const STAND_IN = Buffer.from("H4sIAAAAAAAAAwMAAAAAAAAAAAA=", "base64");

/** Turns a page in its folder into a later version: every script and style gets another name. */
export async function makeLater(folder: string): Promise<void> {
  const app = join(folder, "app");
  const names = (await readdir(app)).filter((name) => /\.(js|css)$/.test(name));
  const changed = (text: string) =>
    names.reduce((all, name) => all.replaceAll(name, name.replace(/(\.\w+)$/, "-later$1")), text);
  for (const name of names) {
    const text = await readFile(join(app, name), "utf8");
    await rm(join(app, name));
    await writeFile(join(app, changed(name)), changed(text));
  }
  for (const name of (await readdir(folder)).filter((each) => each.endsWith(".html"))) {
    const page = join(folder, name);
    await writeFile(`${page}.new`, changed(await readFile(page, "utf8")));
    await rename(`${page}.new`, page);
  }
  await buildOffline(folder);
}
