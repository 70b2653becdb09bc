import { spawn } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { copyFile, cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { build } from "vite";
import { afterAll, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { addFiles, ENV, install, judge, runIn, serveFolder } from "./rig.ts";

// The bundlers have 210 packages and 500 MB together, as much as all other development dependencies, and only these tests need
// them. So they are not in package.json: the first run installs exactly these versions from the registry into the user's cache.
const VERSIONS = {
  webpack: "5.112.2",
  "webpack-cli": "7.3.1",
  rollup: "4.68.7",
  "@rollup/plugin-node-resolve": "16.0.3",
  esbuild: "0.28.2",
  parcel: "2.16.4",
  next: "16.4.6",
  react: "19.3.1",
  "react-dom": "19.3.1",
} as const;
const NAMES = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);
const CACHE = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");

/** A bundler as a user runs it. */
interface Bundler {
  name: string;
  /** The command that builds `page.js` of the project. */
  command: readonly string[];
  /** Client options that the documents prescribe for it. */
  options?: { workers: string };
  /** Whether it reads the page's HTML and writes it to the output. */
  html?: boolean;
}

const WORKERS = { workers: "/framewright/workers/" } as const;
const BUNDLERS: readonly Bundler[] = [
  {
    name: "webpack",
    command: "webpack --mode production --no-optimization-minimize --entry ./page.js -o out/webpack".split(
      " ",
    ),
  },
  {
    name: "rollup",
    command: "rollup page.js --silent -p @rollup/plugin-node-resolve --dir out/rollup".split(" "),
    options: WORKERS,
  },
  {
    name: "esbuild",
    command: "esbuild page.js --bundle --format=esm --log-level=warning --outdir=out/esbuild".split(" "),
    options: WORKERS,
  },
  {
    name: "parcel",
    command:
      "parcel build index.html --no-cache --no-autoinstall --log-level error --dist-dir out/parcel".split(
        " ",
      ),
    options: WORKERS,
    html: true,
  },
];
const FIRST_LOADS = {
  webpack: "webpack --config webpack.first.js --mode production --entry ./first.js -o out/first-webpack",
  rollup: "rollup first.js --silent -p @rollup/plugin-node-resolve --dir out/first-rollup",
  esbuild: "esbuild first.js --bundle --minify --format=esm --log-level=warning --outdir=out/first-esbuild",
} as const;
// Minifying the megabytes of the workers, which load later, would take half a minute.
const MINIFY_FIRST = `import Minimizer from "minimizer-webpack-plugin";
export default { optimization: { minimizer: [new Minimizer({ include: "main.js" })] } };
`;
const LIMIT = { timeout: 600_000 };

/** State that the bundler tests share with those of the package. */
export interface BundlerRig {
  tarball: string;
  /** The README's example with the values it needs, as JavaScript. */
  code: string;
  html(script: string): string;
  open(url: string): Promise<Page>;
  complaints(): readonly string[];
}

/** Adds tests that build the README's example with each bundler and run it in Chromium. */
export function testBundlers(rig: () => BundlerRig): void {
  let project: Project;
  const run = async ({ url, ...server }: { url: string; close(): void }) => {
    const opened = await rig().open(url);
    const { streams } = await judge(opened, project.folder);
    const codecs = streams.map(({ codec_name, width }) => [codec_name, width]);
    expect(codecs).toEqual([
      ["h264", 640],
      ["aac", undefined],
    ]);
    expect(rig().complaints()).toEqual([]);
    await opened.context().close();
    server.close();
  };

  test("installs the bundlers", LIMIT, async () => {
    project = await createProject(rig());
  });
  afterAll(() => project && rm(project.folder, { recursive: true, force: true }));

  for (const { name, command, options, html } of BUNDLERS) {
    const settings = options ? "with the URL of the workers" : "without options";
    test(`a page built by ${name} runs the README's example ${settings}`, LIMIT, async () => {
      const { folder } = project;
      const out = join(folder, "out", name);
      const code = rig().code.replace(
        "createLocalClient()",
        `createLocalClient(${JSON.stringify(options) ?? ""})`,
      );
      await addFiles(folder, { "page.js": code, "index.html": rig().html("page.js") });
      await project.run(command);
      if (!html)
        await writeFile(join(out, "index.html"), rig().html(name === "webpack" ? "main.js" : "page.js"));
      await copyFile(await clip("mp4"), join(out, "clip.mp4"));
      for (const part of options ? ["workers", "core"] : []) {
        const from = join(folder, "node_modules/framewright/dist", part);
        await cp(from, join(out, "framewright", part), { recursive: true });
      }
      await run(await serveFolder(out));
    });
  }

  test(
    "a bundle with createLocalClient loads less than 30 kB of JavaScript before its first call",
    LIMIT,
    async () => {
      const { folder } = project;
      await addFiles(folder, {
        "first.js":
          'import { createLocalClient } from "framewright/browser";\nglobalThis.client = createLocalClient();\n',
        "webpack.first.js": MINIFY_FIRST,
      });
      const sizes: Record<string, number> = {};
      for (const command of Object.values(FIRST_LOADS)) await project.run(command.split(" "));
      const lib = { entry: join(folder, "first.js"), formats: ["es" as const], fileName: "first" };
      const quiet = { configFile: false, logLevel: "error", root: folder } as const;
      await build({ ...quiet, build: { outDir: join(folder, "out", "first-vite"), minify: "oxc", lib } });
      for (const name of ["vite", ...Object.keys(FIRST_LOADS)]) {
        const scripts = globSync("*.js", { cwd: join(folder, "out", `first-${name}`) });
        // The workers are separate files, loaded by the first call.
        const [own = ""] = scripts.filter((script) => /^(main|first|index)/.test(script));
        sizes[name] = gzipSync(await readFile(join(folder, "out", `first-${name}`, own))).length;
      }
      expect(Object.keys(sizes)).toEqual(["vite", "webpack", "rollup", "esbuild"]);
      for (const [name, bytes] of Object.entries(sizes))
        expect([name, bytes < 30_000, bytes > 3000]).toEqual([name, true, true]);
    },
  );

  test(
    "a Next.js page runs the README's example with a client that the server's rendering creates too",
    LIMIT,
    async () => {
      const { folder } = project;
      await addFiles(folder, nextFiles(rig().code));
      await mkdir(join(folder, "public"));
      await copyFile(await clip("mp4"), join(folder, "public", "clip.mp4"));
      await project.run(["next", "build"]);
      await run(await startNext(project));
    },
  );
}

interface Project {
  folder: string;
  bin: string;
  run(command: readonly string[]): Promise<string>;
}

// Created in the bundlers' folder, so that Node and the bundlers resolve their packages.
async function createProject({ tarball }: BundlerRig): Promise<Project> {
  const tools = await installBundlers();
  const folder = join(tools, `project-${crypto.randomUUID()}`);
  // The one setting that Parcel needs for any package with exports.
  await install(folder, tarball, {}, { "@parcel/resolver-default": { packageExports: true } });
  const bin = join(tools, "node_modules", ".bin");
  return { folder, bin, run: ([name = "", ...args]) => runIn(folder, join(bin, name), args) };
}

async function installBundlers(): Promise<string> {
  const folder = join(CACHE, "framewright-bundlers", NAMES.join("_").replaceAll("/", "-"));
  if (existsSync(folder)) return folder;
  // Another run may be installing too: the first one wins.
  const fresh = `${folder.slice(0, -8)}-${crypto.randomUUID()}`;
  await addFiles(fresh, { "package.json": '{ "private": true }' });
  await runIn(fresh, "npm", ["install", "--save-exact", "--no-audit", "--no-fund", ...NAMES]);
  await rename(fresh, folder).catch(() => rm(fresh, { recursive: true }));
  return folder;
}

// The client is created at module level, so that rendering on the server creates one too.
function nextFiles(code: string): Record<string, string> {
  const lines = code.split("\n");
  const isTop = (line: string) => /^import |^const client = /.test(line);
  const body = lines.filter((line) => !isTop(line)).join("\n");
  const page = `"use client";
import { useEffect } from "react";
${lines.filter(isTop).join("\n")}
export default function Page() {
  useEffect(() => void run(), []);
  return <video />;
}
async function run() {
${body}
}
`;
  const icon = '<head><link rel="icon" href="data:," /></head>';
  const layout = `export default ({ children }) => <html>${icon}<body>{children}</body></html>;\n`;
  // The bundlers' folder, as this test's packages are in two places.
  const config = 'export default { turbopack: { root: new URL("..", import.meta.url).pathname } };\n';
  return { "app/page.jsx": page, "app/layout.jsx": layout, "next.config.mjs": config };
}

async function startNext({ folder, bin }: Project) {
  const args = ["start", "-p", "0", "-H", "127.0.0.1"];
  const server = spawn(join(bin, "next"), args, {
    cwd: folder,
    env: ENV,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  for await (const bytes of server.stdout) {
    printed += bytes;
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
    if (url && printed.includes("Ready")) return { url, close: () => void server.kill() };
  }
  throw new Error(`Next.js ended: ${printed}`);
}
