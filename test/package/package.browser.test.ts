import { existsSync, globSync, statSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { type Browser, chromium, type Page } from "@playwright/test";
import { publint } from "publint";
import { build, createServer, type InlineConfig } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LAUNCH } from "../browser/chromium.ts";
import { clip } from "../fixtures/clips.ts";
import { openRig } from "../judge/rig.ts";
import { importsOf } from "../structure/layers.ts";
import { ROOT } from "../structure/source-files.ts";
import { testBundlers } from "./bundlers.ts";
import { testFastCore } from "./fast-core.ts";
import { testNode } from "./node.ts";
import { testRecipes } from "./recipes.ts";
import { addFiles, codeBelow, install, judge, pack, runIn, serveFolder } from "./rig.ts";
import { checkBundles, checkWorkerd } from "./workerd.ts";

// Placeholders of the examples, and values that a page supplies.
const BASE_URL = "https://media.example.com";
const KEY = "your-key";
const INPUT = "https://example.com/holiday.mov";
const GIVEN = `const video = document.querySelector("video") as HTMLVideoElement;
const file = new File([await (await fetch("/clip.mp4")).blob()], "clip.mp4");
`;
const RESULT = "Object.assign(globalThis, { result: blob });\nexport { file, video };\n";
const BLOB = "const blob = await (await client.output(done)).blob();\n";
const AVIF = `import { createLocalClient } from "framewright/browser";
const still = { input: file, kind: "image", options: { format: "avif", width: 320 } };
const { blob } = await createLocalClient({ name: "avif" }).run(still);
`;
const PAGE = '<!doctype html><link rel="icon" href="data:,"><video></video>';
const script = (name: string) => `${PAGE}<script type="module" src="./${name}"></script>`;
// A page before its visitor does anything.
const FIRST = `import { createLocalClient } from "framewright/browser";
import { createRemoteClient } from "framewright/client";
const fallback = createRemoteClient({ baseUrl: "${BASE_URL}", apiKey: "${KEY}" });
Object.assign(globalThis, { client: createLocalClient({ name: "first", fallback }) });
`;

const [page = ""] = codeBelow("README.md", "In a page", "ts");
const [followed = ""] = codeBelow("docs/page.md", "Follow a task", "ts");
const [edge = ""] = codeBelow("docs/service.md", "From code", "ts");
const [both = ""] = codeBelow("docs/page.md", "Fall back to a service", "ts");
const [importMap = ""] = codeBelow("docs/page.md", "Without a bundler", "html");

// Long enough for a busy machine with two cores.
const PATIENCE_MS = 150_000;
const LIMIT = { timeout: 600_000 };

let folder: string;
let project: string;
let tarball: string;
let browser: Browser;
let complaints: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-package-"));
  project = join(folder, "project");
  tarball = await pack(folder);
  await install(project, tarball, {
    "index.html": script("page.ts"),
    "first.html": script("first.ts"),
    "page.ts": GIVEN + page + RESULT,
    "first.ts": FIRST,
  });
  await mkdir(join(project, "public"));
  await copyFile(await clip("mp4"), join(project, "public", "clip.mp4"));
  browser = await chromium.launch(LAUNCH);
});
afterAll(async () => {
  await browser?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function newPage(): Promise<Page> {
  const context = await browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  return context.newPage();
}

async function open(url: string): Promise<Page> {
  const opened = await newPage();
  complaints = [];
  opened.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  opened.on("pageerror", (error) => complaints.push(error.stack ?? String(error)));
  await opened.goto(url);
  return opened;
}

const VITE: InlineConfig = { configFile: false, logLevel: "error" };
const H264 = expect.objectContaining({ codec_name: "h264", width: 640, nb_frames: expect.any(String) });

test("the first examples in the documents have at most ten lines", () => {
  for (const code of [page, followed, edge, both]) {
    expect(code.trim().split("\n").length).toBeLessThanOrEqual(10);
    expect(code).toContain("framewright/");
  }
});

test("every import in the package resolves to one of its files or dependencies; the core fits the size limit; licenses are included", async () => {
  const root = join(project, "node_modules", "framewright");
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const packages = { ...manifest.dependencies, ...manifest.peerDependencies };
  const paths = globSync("dist/**/*.{js,ts}", { cwd: root });
  expect(paths.filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))).toEqual([]);
  const wrong: string[] = [];
  const urls = new Set<string>();
  for (const path of paths) {
    const text = await readFile(join(root, path), "utf8");
    for (const name of importsOf({ path, text })) {
      const types = path.endsWith(".d.ts") ? name.replace(/\.js$/, ".d.ts") : name;
      const [scope = "", rest] = name.split("/");
      const isListed = (scope.startsWith("@") ? `${scope}/${rest}` : scope) in packages;
      const isThere = name.startsWith(".")
        ? existsSync(join(root, path, "..", types))
        : path.startsWith("dist/lib/") && (isListed || name.startsWith("cloudflare:"));
      if (!isThere) wrong.push(`${path}: ${name}`);
    }
    for (const [, name = ""] of text.matchAll(/new URL\(\s*["'`]([^"'`]+)["'`],\s*import\.meta\.url/g)) {
      urls.add(relative(root, join(root, path, "..", name)));
    }
    if (/["'`][^"'`\n]*node_modules\//.test(text)) wrong.push(`${path}: node_modules`);
  }
  expect(wrong).toEqual([]);
  expect(urls.size).toBeGreaterThan(5);
  expect([...urls].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  for (const name of ["core/ffmpeg-core.wasm.gz", "core/ffmpeg-core.js.gz", "workers/avif_enc.wasm.gz"]) {
    const { size } = statSync(join(root, "dist", name));
    expect([name, size < 25 * 2 ** 20]).toEqual([name, true]);
  }
  const licenses = await readFile(join(root, "dist", "LICENSES.txt"), "utf8");
  for (const name of ["mediabunny", "zod", "@jsquash/avif", "libheif-js", "@ffmpeg/core", "dejavu-fonts-ttf"])
    expect(licenses).toContain(name);
});

test("a page's install is below 60 MB and has no server packages", async () => {
  const paths = globSync("node_modules/**/*", { cwd: project, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = paths.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  expect(bytes).toBeLessThan(60e6);
  for (const name of ["hono", "@ffmpeg/core", "@cloudflare/containers"])
    expect(existsSync(join(project, "node_modules", name))).toBe(false);
});

test("publint finds no problems", async () => {
  const packed = await readFile(tarball);
  const { messages } = await publint({ pack: { tarball: new Uint8Array(packed).buffer }, strict: true });
  expect(messages).toEqual([]);
});

test("are-the-types-wrong finds no problems except that the package is ESM-only", async () => {
  const entrypoints =
    "browser client plan worker worker/encoder encoders/webcodecs stores/indexeddb storage/opfs";
  const { problems, entrypoints: checked } = (await checkPackage(
    createPackageFromTarballData(await readFile(tarball)),
    { entrypoints: [".", ...entrypoints.split(" ").map((name) => `./${name}`)] },
  )) as Extract<Awaited<ReturnType<typeof checkPackage>>, { problems: unknown }>;
  expect(Object.keys(checked)).toHaveLength(9);
  const old = ["node10", "node16-cjs"];
  const others = problems.filter(
    (problem) => !("resolutionKind" in problem && old.includes(problem.resolutionKind)),
  );
  expect(others).toEqual([]);
});

test("the package's entry points have types, and load in Node", async () => {
  const code = `import { MediaError, parseTaskRequest, type Task } from "framewright";
import { createLocalClient, type LocalClient } from "framewright/browser";
import { type Client, createRemoteClient } from "framewright/client";
import { createWebCodecsEncoder } from "framewright/encoders/webcodecs";
import { createPlan } from "framewright/plan";
import { createMemoryStorage } from "framewright/storage/memory";
import { openIndexedDb } from "framewright/stores/indexeddb";
export const client: Client = createRemoteClient({ baseUrl: "http://localhost", apiKey: "key" });
export const open: (options: { fallback: Client }) => LocalClient = createLocalClient;
export const kind: Task["kind"] = "video";
export const parts = [createWebCodecsEncoder, createPlan, createMemoryStorage, openIndexedDb, parseTaskRequest];
// @ts-expect-error: no kind has this option
export const wrong = () => client.tasks.create({ input: "", kind: "video", options: { widht: 1 } });
console.log(parts.map((part) => typeof part).join(" "), await client.tasks.get("").catch((error) => error instanceof MediaError));
`;
  await addFiles(project, { "imports.ts": code });
  const flags = "--strict --noEmit --target esnext --module esnext --moduleResolution bundler".split(" ");
  const rest = ["--lib", "esnext,dom,dom.iterable,dom.asynciterable", "--types", "", "--skipLibCheck"];
  const files = ["imports.ts", "page.ts", "first.ts"];
  await runIn(project, join(ROOT, "node_modules/.bin/tsc"), [...flags, ...rest, "--ignoreConfig", ...files]);
  const printed = await runIn(project, process.execPath, ["imports.ts"]);
  expect(printed).toBe("function function function function function true\n");
});

test("tree-shaking leaves only what is used", async () => {
  await addFiles(project, { "one.ts": 'export { MediaError } from "framewright";\n' });
  const lib = { entry: join(project, "one.ts"), formats: ["es" as const] };
  const built = await build({ ...VITE, root: project, build: { write: false, lib } });
  const [{ output } = { output: [] }] = Array.isArray(built) ? built : [];
  const code = output.map((file) => (file.type === "chunk" ? file.code : "")).join("");
  expect(code).toContain("MediaError");
  expect(code.length).toBeLessThan(4000);
});

test("a page served by Vite runs the README's example", async () => {
  const vite = await createServer({ ...VITE, root: project, server: { port: 0, host: "127.0.0.1" } });
  await vite.listen();
  const opened = await open(vite.resolvedUrls?.local[0] ?? "");
  const { streams } = await judge(opened, folder);
  expect(streams).toEqual([H264, expect.objectContaining({ codec_name: "aac" })]);
  expect(complaints).toEqual([]);
  await opened.context().close();
  await vite.close();
});

test("a page built by Vite runs the README's example, and loads less than 66 kB of JavaScript before any call, with both clients", async () => {
  const input = ["index.html", "first.html"].map((name) => join(project, name));
  await build({ ...VITE, root: project, build: { rolldownOptions: { input } } });
  const server = await serveFolder(join(project, "dist"));
  const first = await newPage();
  const loaded: Promise<readonly [string, number]>[] = [];
  first.on("response", (response) => {
    if (!/\.js$/.test(response.url())) return;
    loaded.push(response.body().then((body) => [response.url(), gzipSync(body).length] as const));
  });
  await first.goto(`${server.url}first.html`);
  await first.waitForFunction(() => "client" in globalThis);
  await first.waitForLoadState("networkidle");
  const scripts = await Promise.all(loaded);
  const bytes = scripts.reduce((sum, [, size]) => sum + size, 0);
  expect(scripts.length).toBeGreaterThan(0);
  expect(bytes, JSON.stringify(scripts)).toBeLessThan(66_000);
  expect(first.workers()).toEqual([]);

  const opened = await open(server.url);
  const { streams } = await judge(opened, folder);
  expect(streams).toEqual([H264, expect.objectContaining({ codec_name: "aac" })]);
  expect(complaints).toEqual([]);
  await first.context().close();
  await opened.context().close();
  server.close();
});

const plain = (code: string) =>
  (GIVEN + code + RESULT).replace(" as HTMLVideoElement", "").replace(/^export .*$/m, "");
const inline = (code: string) => `${PAGE}${importMap}<script type="module">${plain(code)}</script>`;

testNode(() => project);
testFastCore(() => ({ project, folder, open, complaints: () => complaints }));
testRecipes(() => ({ project, folder, importMap, open, complaints: () => complaints }));
testBundlers(() => ({ tarball, code: plain(page), html: script, open, complaints: () => complaints }));

test("a page without a bundler runs the documented example and encodes AVIF", async () => {
  await addFiles(project, { "plain.html": inline(followed + BLOB), "avif.html": inline(AVIF) });
  await copyFile(await clip("mp4"), join(project, "clip.mp4"));
  const server = await serveFolder(project);
  const opened = await open(`${server.url}plain.html`);
  const { streams } = await judge(opened, folder);
  expect(streams).toEqual([H264, expect.objectContaining({ codec_name: "aac" })]);
  expect(complaints).toEqual([]);
  await opened.context().close();
  const stills = await open(`${server.url}avif.html`);
  const still = await judge(stills, folder);
  expect(still.streams).toEqual([expect.objectContaining({ codec_name: "av1", width: 320 })]);
  expect(complaints).toEqual([]);
  await stills.context().close();
  server.close();
});

test("a page falls back to a service, and Node and a Worker use one", LIMIT, async () => {
  const [server, service] = await Promise.all([serveFolder(project), openRig()]);
  const real = (code: string) => {
    for (const name of [BASE_URL, KEY, INPUT]) expect(code).toContain(name);
    const there = code.replace(BASE_URL, service.url).replace(KEY, service.key);
    return there.replace(INPUT, `${server.url}clip.mp4`);
  };
  await addFiles(project, { "both.html": inline(real(both) + BLOB), "edge.ts": real(edge) });
  await copyFile(await clip("mp4"), join(project, "clip.mp4"));
  try {
    const opened = await open(`${server.url}both.html`);
    const { streams } = await judge(opened, folder);
    expect(streams[0]?.codec_name).toBe("hevc");
    expect(complaints).toEqual([]);
    await opened.context().close();

    const printed = await runIn(project, process.execPath, ["edge.ts"]);
    expect(printed).toMatch(/\b100\n/);
    expect(printed.trim().split("\n").at(-1)).toMatch(new RegExp(`^${service.url}/media/`));

    const call = { baseUrl: service.url, apiKey: service.key, input: `${server.url}clip.mp4` };
    await checkWorkerd(project, call);
  } finally {
    await service.close();
    server.close();
  }
});

test("wrangler bundles the package's Worker", () => checkBundles(project));
