import { posix } from "node:path";
import { parseSync, Visitor } from "vite";
import type { SourceFile } from "./source-files.ts";

/** What a layer may import: other layers, and packages; itself always. */
interface Layer {
  layers: readonly string[];
  packages: readonly string[];
}

// Constants and small helpers, known to all.
const EVERYWHERE = "src/util";
const ANYWHERE = ["src", "src/*"];

/** The layers, by the folder or file that their paths start with; the longest that fits counts. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  [EVERYWHERE]: { layers: [], packages: [] },
  "src/core": { layers: [], packages: ["zod", "ulid"] },
  "src/plan": { layers: ["src/core", "src/words"], packages: ["zod", "ulid"] },
  // Codes and facts to English: the only sentences made for people.
  "src/words": { layers: ["src/core"], packages: [] },
  "src/route": { layers: ["src/core", "src/plan", "src/words"], packages: [] },
  "src/ffmpeg": { layers: ["src/core", "src/plan"], packages: ["zod"] },
  "src/probe": {
    layers: ["src/core", "src/plan", "src/ffmpeg", "src/words"],
    packages: ["zod", "mediabunny"],
  },
  // Chunks wait in storage for their stitch; a source is opened with the care of the probe.
  "src/encoders": {
    layers: ["src/core", "src/plan", "src/ffmpeg", "src/storage", "src/probe", "src/words"],
    packages: ["zod", "mediabunny", "@ffmpeg/core", "@jsquash/avif"],
  },
  // The work of the steps, as every host has it.
  "src/steps": {
    layers: [
      ...["src/core", "src/plan", "src/route", "src/ffmpeg", "src/storage", "src/probe"],
      ...["src/encoders", "src/words"],
    ],
    packages: [],
  },
  "src/stores": { layers: ["src/core"], packages: ["zod", "idb"] },
  "src/storage": { layers: ["src/core", "src/words"], packages: ["zod", "aws4fetch", "ipaddr.js"] },
  "src/client": { layers: ["src/core", "src/storage"], packages: ["zod"] },
  // Apart from the client, so that no page loads the library.
  "src/webhooks": { layers: ["src/core"], packages: ["standardwebhooks"] },
  "src/browser": { layers: ANYWHERE, packages: ["zod", "ulid", "mediabunny"] },
  // The public names; adapters are subpath exports.
  "src/index.ts": { layers: ["src/core", "src/plan", "src/client", "src/words"], packages: [] },
  // The settings of all hosts.
  "worker/settings": { layers: ["src/core"], packages: ["zod"] },
  worker: {
    layers: [...ANYWHERE, "worker/settings"],
    packages: ["*", "cloudflare:*"],
  },
  "worker/docs/build-assets.ts": { layers: ["worker"], packages: ["node:*"] },
  "worker/encoder": { layers: ANYWHERE, packages: ["*", "cloudflare:*"] },
  "worker/container": { layers: [...ANYWHERE, "worker/settings"], packages: ["*", "node:*"] },
  "worker/local": {
    layers: [...ANYWHERE, "worker", "worker/settings", "worker/docs/build-assets.ts"],
    packages: ["*", "node:*"],
  },
  web: { layers: ["src/index.ts", "src/browser", "src/client"], packages: ["*"] },
  "web/vite.config.ts": { layers: [], packages: ["*", "node:*"] },
  bench: { layers: ["*"], packages: ["*", "node:*", "cloudflare:*"] },
  test: { layers: ["*"], packages: ["*", "node:*", "cloudflare:*"] },
};

/** Lists the imports that no layer allows, each as `file: what it imports`. */
export function findWrongImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter((name) => !isAllowed(file.path, name))
      .map((name) => `${file.path}: ${name}`),
  );
}

/** Lists what a file imports, types and dynamic imports included, as it stands there. */
export function importsOf({ path, text }: SourceFile): string[] {
  const { module, program } = parseSync(path, text, { lang: path.endsWith("x") ? "tsx" : "ts" });
  const names = [
    ...module.staticImports.map((found) => found.moduleRequest.value),
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

// A folder of src that the table does not know is a layer of its own, without rules: nothing may be imported in it.
function layerOf(path: string): string {
  if (path.endsWith(".test.ts")) return "test";
  const known = Object.keys(LAYERS).filter((layer) => path === layer || path.startsWith(`${layer}/`));
  return known.sort((a, b) => b.length - a.length)[0] ?? posix.dirname(path);
}

// "@scope/name", "name", or "node:" and "cloudflare:" with what follows.
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
