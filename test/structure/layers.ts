import { posix } from "node:path";
import { parseSync, Visitor } from "vite";
import type { SourceFile } from "./source-files.ts";

/** The imports that a layer may have besides its own: other layers, and packages. */
interface Layer {
  layers: readonly string[];
  packages: readonly string[];
}

// Constants and small helpers for every layer.
const EVERYWHERE = "src/util";
const ANYWHERE = ["src", "src/*"];

/** The layers, by path prefix; the longest match wins. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  [EVERYWHERE]: { layers: [], packages: [] },
  // Pure: the facts of media, the work on them, and how ffmpeg does it.
  "src/media": { layers: [], packages: ["zod"] },
  // Tasks, steps, jobs and the other resources, and their rules: pure.
  "src/runs": { layers: ["src/media"], packages: ["zod", "ulid"] },
  "src/storage": { layers: ["src/media", "src/runs"], packages: ["zod", "aws4fetch", "ipaddr.js"] },
  "src/stores": { layers: ["src/media", "src/runs"], packages: ["zod", "idb"] },
  "src/probe": { layers: ["src/media", "src/runs"], packages: ["zod", "mediabunny"] },
  // Text of subtitles: its formats, and the tracks of files.
  "src/subtitles": { layers: ["src/media", "src/runs", "src/probe"], packages: [] },
  // Writes, joins and edits containers.
  "src/mux": { layers: ["src/media", "src/runs", "src/probe", "src/subtitles"], packages: ["mediabunny"] },
  // Chunks wait in storage to be stitched; sources are opened as carefully as by the probe.
  "src/encoders": {
    layers: ["src/media", "src/runs", "src/storage", "src/probe", "src/subtitles", "src/mux"],
    packages: ["zod", "mediabunny", "fflate", "@ffmpeg/core", "@jsquash/avif", "libheif-js", "thumbhash"],
  },
  // The work of the steps, the same on every host.
  "src/runs/steps": {
    layers: ["src/media", "src/runs", "src/storage", "src/probe", "src/subtitles", "src/mux", "src/encoders"],
    packages: [],
  },
  "src/client": { layers: ["src/media", "src/runs"], packages: ["zod"] },
  // Separate from the client, so that no page loads the library.
  "src/webhooks": { layers: ["src/media", "src/runs"], packages: ["standardwebhooks"] },
  "src/browser": { layers: ANYWHERE, packages: ["zod", "ulid", "mediabunny"] },
  // The public names; adapters are subpath exports.
  "src/index.ts": { layers: ["src/media", "src/runs", "src/client"], packages: [] },
  // The settings of every host.
  "worker/settings.ts": { layers: ["src/media", "src/runs"], packages: ["zod"] },
  worker: {
    layers: [...ANYWHERE, "worker/settings.ts", "worker/media/burn-font.ts"],
    packages: ["*", "cloudflare:*"],
  },
  // The font that it comes with.
  "worker/media/burn-font.ts": { layers: ["src/media", "worker", "dist/core"], packages: [] },
  "worker/encoder": { layers: [...ANYWHERE, "dist/core"], packages: ["*", "cloudflare:*"] },
  "worker/container": { layers: [...ANYWHERE, "worker/settings.ts"], packages: ["*", "node:*"] },
  "worker/local": {
    layers: [...ANYWHERE, "worker", "worker/settings.ts", "core"],
    packages: ["*", "node:*"],
  },
  core: { layers: [], packages: ["node:*"] },
  // The form reads the options from their features.
  web: { layers: ["src/index.ts", "src/media", "src/browser", "src/client"], packages: ["*"] },
  "web/vite.config.ts": { layers: [], packages: ["*", "node:*"] },
  bench: { layers: ["*"], packages: ["*", "node:*", "cloudflare:*"] },
  test: { layers: ["*"], packages: ["*", "node:*", "cloudflare:*"] },
};

/** Lists the imports that the layers forbid, each as `file: import`. */
export function findWrongImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter((name) => !isAllowed(file.path, name))
      .map((name) => `${file.path}: ${name}`),
  );
}

/** Lists a file's import specifiers as written, types and dynamic imports included. */
export function importsOf({ path, text }: SourceFile): string[] {
  const { module, program } = parseSync(path, text, { lang: path.endsWith("x") ? "tsx" : "ts" });
  const names = [
    ...module.staticImports.map((each) => each.moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value)),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => literal(text.slice(start, end))),
  ];
  new Visitor({
    TSImportType(node) {
      names.push(node.source.value);
    },
  }).visit(program);
  return [...new Set(names.filter((name) => name !== undefined))];
}

function isAllowed(path: string, name: string): boolean {
  const from = layerOf(path);
  const rule = LAYERS[from];
  if (!rule) return false;
  const file = name.startsWith(".") ? posix.join(posix.dirname(path), name) : `node_modules/${name}`;
  const inPackages = file.split("node_modules/")[1];
  if (inPackages !== undefined) return matches(packageOf(inPackages), rule.packages);
  const to = layerOf(file);
  return to === from || to === EVERYWHERE || matches(to, rule.layers);
}

// A folder that the table does not list is a layer without rules, which may import nothing.
function layerOf(path: string): string {
  if (path.endsWith(".test.ts")) return "test";
  const layers = Object.keys(LAYERS).filter((layer) => path === layer || path.startsWith(`${layer}/`));
  return layers.sort((a, b) => b.length - a.length)[0] ?? posix.dirname(path);
}

// "@scope/name", "name", or all of "node:…" and "cloudflare:…".
function packageOf(name: string): string {
  if (name.includes(":")) return name;
  return name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
}

function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (pattern === "*") return !name.includes(":");
    return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  });
}

function literal(text: string): string | undefined {
  return /^(["'`])([^$]*)\1$/.exec(text)?.[2];
}
