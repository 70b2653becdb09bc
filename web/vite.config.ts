import { join } from "node:path";
import { defineConfig } from "vite";

const API =
  "tasks steps connections webhooks events uploads keys media fonts health metrics docs openapi.json".split(
    " ",
  );

/** Modules of the first load that later parts of the page import, too. */
const FIRST =
  /\/node_modules\/(@preact|preact)\/|\/web\/(address|strings|workbench|home\/jobs|ui\/first-icon|ui\/first-signs)\.|\/src\/(client\/(media-input|methods|errors)|media\/(errors|formats)|util\/(async|bytes|text))\./;

/** Builds the page and serves it during development (`npm run dev:page`). */
export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: join(import.meta.dirname, "..", "dist", "web"),
    emptyOutDir: true,
    target: "esnext",
    assetsDir: "app",
    // The page's content security policy forbids data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    // One file compresses better than the many that later parts of the page would share with its first load.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "first", test: FIRST }] } } },
  },
  worker: { format: "es" },
  server: {
    headers: { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" },
    proxy: Object.fromEntries(API.map((path) => [`^/${path}(?:[/?]|$)`, "http://127.0.0.1:8787"])),
  },
});
