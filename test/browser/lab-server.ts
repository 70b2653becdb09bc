import { createHash, randomUUID } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Plugin } from "vite";
import { CLIP_FOLDER } from "../fixtures/make-clip.ts";
import { ROOT } from "../structure/source-files.ts";
import { answerFile } from "./serve-files.ts";

const ISOLATED = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
} as const;
// Vitest turns `import(…)` into a call of this name, also in the functions that a test sends to the page.
const PAGE = `<!doctype html><title>lab</title><link rel="icon" href="data:,">
<script>globalThis.__vite_ssr_dynamic_import__ = (url) => import(url);</script>`;
// In place of Vite's client, which would ask for a socket to reload the page by.
const CLIENT = "export const injectQuery = (url) => url;";
// Bundled once before the first page, as a package found later would reload the page in the middle of a test.
const BUNDLED = ["aws4fetch", "hls.js", "idb", "ipaddr.js", "mediabunny", "ulid", "zod"];

/** How the server of a lab answers. */
export interface LabServerOptions {
  /** Sends the headers of a cross-origin isolated page, which has SharedArrayBuffer; off by default. */
  isolated?: boolean | undefined;
  /** A folder whose files are at `/files/`, in ranges and for every origin. */
  files?: string | undefined;
}

/** Starts Vite over the whole repository on a free port: a blank page at `/`, and every module below its own path. */
export async function startLabServer({ isolated, files }: LabServerOptions) {
  const cacheDir = await mkdtemp(join(tmpdir(), "framewright-lab-"));
  const keep = await takeBundled(cacheDir);
  const vite = await createServer({
    root: ROOT,
    configFile: false,
    appType: "custom",
    logLevel: "warn",
    cacheDir,
    plugins: [assertOfPages()],
    optimizeDeps: { noDiscovery: true, include: BUNDLED },
    server: {
      middlewareMode: true,
      hmr: false,
      ws: false,
      watch: null,
      fs: { allow: [ROOT, cacheDir] },
      headers: isolated ? ISOLATED : {},
    },
  });
  await keep();
  const server = createHttpServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://lab");
    if (isolated) for (const [name, value] of Object.entries(ISOLATED)) response.setHeader(name, value);
    if (pathname === "/") return void response.setHeader("Content-Type", "text/html").end(PAGE);
    if (pathname === "/@vite/client") {
      return void response.setHeader("Content-Type", "text/javascript").end(CLIENT);
    }
    if (files && pathname.startsWith("/files/")) {
      return answerFile(files, pathname.slice("/files".length), request, response);
    }
    vite.middlewares(request, response, () => response.writeHead(404).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.close();
      server.closeAllConnections();
      await vite.close();
      await rm(cacheDir, { recursive: true, force: true });
    },
  };
}

// Bundling takes a second of processor time, so the first lab keeps what came of it for the others. A copy is each one's own; Vite
// itself checks whether it still fits, and bundles anew if not.
async function takeBundled(cacheDir: string): Promise<() => Promise<void>> {
  const lock = await readFile(join(ROOT, "package-lock.json"));
  const key = createHash("sha256")
    .update(lock)
    .update(JSON.stringify([ROOT, BUNDLED]))
    .digest("hex");
  const kept = join(CLIP_FOLDER, `bundled-${key.slice(0, 24)}`);
  const found = await cp(kept, cacheDir, { recursive: true }).then(
    () => true,
    () => false,
  );
  if (found) return async () => {};
  return async () => {
    const making = join(CLIP_FOLDER, `making-${randomUUID()}`);
    await mkdir(CLIP_FOLDER, { recursive: true });
    await cp(cacheDir, making, { recursive: true });
    // Another lab may have been quicker.
    await rename(making, kept).catch(() => rm(making, { recursive: true, force: true }));
  };
}

// The contracts say `import assert from "node:assert/strict"`; a page has its own.
function assertOfPages(): Plugin {
  const id = "\0assert-of-pages";
  return {
    name: "assert-of-pages",
    enforce: "pre",
    resolveId: (source) => (source === "node:assert/strict" ? id : null),
    load: (loaded) =>
      loaded === id ? 'import * as assert from "/test/browser/assert.ts"; export default assert;' : null,
  };
}
