import { join } from "node:path";
import { defineConfig } from "vite";

const API =
  "tasks steps connections webhooks events uploads keys media health metrics docs openapi.json".split(" ");

/** How the page is built and, by `npm run dev:page`, served while it is worked on. */
export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: join(import.meta.dirname, "..", "dist", "web"),
    emptyOutDir: true,
    target: "esnext",
    assetsDir: "app",
    // The policy of the page lets no address be data.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Workers are one file each, and are loaded when they are needed.
    chunkSizeWarningLimit: 1000,
  },
  worker: { format: "es" },
  server: {
    headers: { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" },
    // The service of `npm run dev`, at the same address as the page.
    proxy: Object.fromEntries(API.map((path) => [`^/${path}(?:[/?]|$)`, "http://127.0.0.1:8787"])),
  },
});
