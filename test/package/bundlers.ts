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

// Together the bundlers have 210 packages and 500 MB, as much again as all other development dependencies, and only these tests need them. So
// they are not in package.json: the first run installs these very versions from the registry, once, in the user's cache.
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
  /** Its command, in a project whose page is `page.js`. */
  command: readonly string[];
  /** Options of the client that the documents name for it. */
  options?: { workers: string };
  /** Whether it takes the page's HTML, and writes it. */
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
    command: "parcel build index.html --no-cache --log-level error --dist-dir out/parcel".split(" "),
    options: WORKERS,
    html: true,
  },
];
const FIRST_LOADS = {
  webpack: "webpack --mode production --entry ./first.js -o out/first-webpack",
  rollup: "rollup first.js --silent -p @rollup/plugin-node-resolve --dir out/first-rollup",
  esbuild: "esbuild first.js --bundle --minify --format=esm --log-level=warning --outdir=out/first-esbuild",
} as const;
const LIMIT = { timeout: 300_000 };

/** What the tests of bundlers share with those of the package. */
export interface BundlerRig {
  tarball: string;
  /** The README's lines, with what they name, for a page without types. */
  code: string;
  html(script: string): string;
  open(url: string): Promise<Page>;
  complaints(): readonly string[];
}

/** Adds the tests that build the README's lines with each bundler, and run them in Chromium. */
export function testBundlers(rig: () => BundlerRig): void {
  let project: Project;
  const run = async ({ url, ...server }: { url: string; close(): void }) => {
    const opened = await rig().open(url);
    const { streams } = await judge(opened, project.folder);
    const found = streams.map(({ codec_name, width }) => [codec_name, width]);
    expect(found).toEqual([
      ["h264", 640],
      ["aac", undefined],
    ]);
    expect(rig().complaints()).toEqual([]);
    await opened.context().close();
    server.close();
  };

  test("the bundlers are installed", LIMIT, async () => {
    project = await createProject(rig());
  });
  afterAll(() => project && rm(project.folder, { recursive: true, force: true }));

  for (const { name, command, options, html } of BUNDLERS) {
    const what = options ? "with the workers named" : "with no options";
    test(`a page that ${name} built does too, ${what}`, LIMIT, async () => {
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
    "a page that imports createLocalClient loads less than 30 kB of JavaScript before its first call",
    LIMIT,
    async () => {
      const { folder } = project;
      await addFiles(folder, {
        "first.js":
          'import { createLocalClient } from "framewright/browser";\nglobalThis.client = createLocalClient();\n',
      });
      const sizes: Record<string, number> = {};
      for (const command of Object.values(FIRST_LOADS)) await project.run(command.split(" "));
      const lib = { entry: join(folder, "first.js"), formats: ["es" as const], fileName: "first" };
      const quiet = { configFile: false, logLevel: "error", root: folder } as const;
      await build({ ...quiet, build: { outDir: join(folder, "out", "first-vite"), minify: "oxc", lib } });
      for (const name of ["vite", ...Object.keys(FIRST_LOADS)]) {
        const scripts = globSync("*.js", { cwd: join(folder, "out", `first-${name}`) });
        // The workers are files of their own, which start with the first call.
        const [own = ""] = scripts.filter((script) => /^(main|first|index)/.test(script));
        sizes[name] = gzipSync(await readFile(join(folder, "out", `first-${name}`, own))).length;
      }
      expect(Object.keys(sizes)).toEqual(["vite", "webpack", "rollup", "esbuild"]);
      for (const [name, bytes] of Object.entries(sizes))
        expect([name, bytes < 30_000, bytes > 3000]).toEqual([name, true, true]);
    },
  );

  test("a page of Next.js does too, with a client made while the server renders", LIMIT, async () => {
    const { folder } = project;
    await addFiles(folder, nextFiles(rig().code));
    await mkdir(join(folder, "public"));
    await copyFile(await clip("mp4"), join(folder, "public", "clip.mp4"));
    await project.run(["next", "build"]);
    await run(await startNext(project));
  });
}

interface Project {
  folder: string;
  bin: string;
  /** Runs the command of a bundler. */
  run(command: readonly string[]): Promise<string>;
}

// It lies in the folder of the bundlers, where Node's and their own rules find them.
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
  // Another run may do the same just now: the first one stays.
  const fresh = `${folder.slice(0, -8)}-${crypto.randomUUID()}`;
  await addFiles(fresh, { "package.json": '{ "private": true }' });
  await runIn(fresh, "npm", ["install", "--save-exact", "--no-audit", "--no-fund", ...NAMES]);
  await rename(fresh, folder).catch(() => rm(fresh, { recursive: true }));
  return folder;
}

// The client is made where the module is, so that the server's rendering makes one too.
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
  // The bundlers' folder, as the packages of this test lie in two places.
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
  let said = "";
  for await (const bytes of server.stdout) {
    said += bytes;
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
    if (url && said.includes("Ready")) return { url, close: () => void server.kill() };
  }
  throw new Error(`Next.js ended: ${said}`);
}
