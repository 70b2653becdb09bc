import { createHash, randomUUID } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, createServer, type Plugin } from "vite";
import { buildWorkers } from "../../worker/local/build/build-package.ts";
import { CLIP_FOLDER } from "../fixtures/make-clip.ts";
import { ROOT } from "../structure/source-files.ts";
import { answerFile } from "./serve-files.ts";

/** Environment variable with the URL of the Vite that all labs of a run share. */
export const LAB_VITE = "FRAMEWRIGHT_LAB_VITE";
// Replaces Vite's client, which would open a socket for reloads.
const CLIENT = "export const injectQuery = (url) => url;";
// Bundled before the first page: a package discovered later would reload the page in the middle of a test.
const BUNDLED = ["aws4fetch", "hls.js", "idb", "ipaddr.js", "mediabunny", "ulid", "zod"];

/** Serves the modules of a lab. */
export interface LabVite {
  answer(request: IncomingMessage, response: ServerResponse): unknown;
  close(): Promise<void>;
}

/**
 * Starts Vite on the whole repository: every module is served at its own path, the package's workers at `/workers/`, and below
 * `/bundled/` every module with all that it imports, as a worker loads one file much sooner than two hundred.
 */
export async function startLabVite(): Promise<LabVite> {
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
    },
  });
  await keep();
  let built: Promise<unknown> | undefined;
  const bundles = new Map<string, Promise<string>>();
  return {
    async answer(request, response) {
      const { pathname } = new URL(request.url ?? "/", "http://lab");
      if (pathname === "/@vite/client") {
        return void response.setHeader("Content-Type", "text/javascript").end(CLIENT);
      }
      if (pathname.startsWith("/workers/")) {
        built ??= buildWorkers(cacheDir);
        await built;
        return answerFile(cacheDir, pathname, request, response);
      }
      if (pathname.startsWith("/bundled/")) {
        const path = join(ROOT, pathname.slice("/bundled".length));
        const bundle = bundles.get(path) ?? bundleOf(path);
        bundles.set(path, bundle);
        return response.setHeader("Content-Type", "text/javascript").end(await bundle);
      }
      vite.middlewares(request, response, () => response.writeHead(404).end());
    },
    async close() {
      await vite.close();
      await rm(cacheDir, { recursive: true, force: true });
    },
  };
}

async function bundleOf(path: string): Promise<string> {
  const built = await build({
    ...{ root: ROOT, configFile: false, logLevel: "warn", publicDir: false },
    build: {
      ...{ write: false, target: "esnext", minify: false },
      lib: { entry: { bundle: path }, formats: ["es"] },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  const [{ output } = { output: [] }] = Array.isArray(built) ? built : [];
  const [file, ...more] = output;
  if (file?.type !== "chunk" || more.length > 0) throw new Error(`${path} is not one file.`);
  return file.code;
}

// Bundling takes a second of processor time, so the first lab keeps the result and the others copy it. Vite itself checks whether
// it is still valid, and bundles again if not.
async function takeBundled(cacheDir: string): Promise<() => Promise<void>> {
  const lock = await readFile(join(ROOT, "package-lock.json"));
  const key = createHash("sha256")
    .update(lock)
    .update(JSON.stringify([ROOT, BUNDLED]))
    .digest("hex");
  const cacheCopy = join(CLIP_FOLDER, `bundled-${key.slice(0, 24)}`);
  const isCached = await cp(cacheCopy, cacheDir, { recursive: true }).then(
    () => true,
    () => false,
  );
  if (isCached) return async () => {};
  return async () => {
    const making = join(CLIP_FOLDER, `making-${randomUUID()}`);
    await mkdir(CLIP_FOLDER, { recursive: true });
    await cp(cacheDir, making, { recursive: true });
    // Another lab may have been faster.
    await rename(making, cacheCopy).catch(() => rm(making, { recursive: true, force: true }));
  };
}

// The contracts import `node:assert/strict`; pages get a replacement.
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
