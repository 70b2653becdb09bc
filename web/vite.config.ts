import { join } from "node:path";
import { defineConfig } from "vite";

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
  },
  worker: { format: "es" },
});
