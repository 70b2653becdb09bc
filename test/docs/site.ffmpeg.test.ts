import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as library from "../../src/index.ts";
import { ROOT } from "../structure/source-files.ts";
import { createMemoryApi } from "../worker/api/memory-api.ts";

let site: string;
let pages: Map<string, string>;

// The build itself fails on a link to a missing page.
beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), "framewright-docs-"));
  const run = promisify(execFile);
  await run(process.execPath, ["worker/local/build/write-reference.ts"], { cwd: ROOT });
  const vitepress = join(ROOT, "node_modules", "vitepress", "bin", "vitepress.js");
  await run(process.execPath, [vitepress, "build", "docs", "--outDir", site], {
    cwd: ROOT,
    timeout: 150_000,
  });
  const paths = globSync("**/*.html", { cwd: site });
  pages = new Map(paths.map((path) => [path, readFileSync(join(site, path), "utf8")]));
});
afterAll(() => site && rm(site, { recursive: true, force: true }));

const idsOf = (html: string) => new Set([...html.matchAll(/\bid="([^"]+)"/g)].map(([, id = ""]) => id));

test("the site builds, and every link and anchor in it resolves", () => {
  expect(pages.size).toBeGreaterThan(18);
  const dead: string[] = [];
  let anchors = 0;
  for (const [path, html] of pages) {
    for (const [, target = ""] of html.matchAll(/<a[^>]* href="([^"]*)"/g)) {
      const { host, pathname, hash } = new URL(target, `http://site/${path}`);
      if (host !== "site") continue;
      const file = pathname.slice(1) || "index";
      const there = pages.get(file.replace(/(\.html)?$/, ".html"));
      const anchor = decodeURIComponent(hash.slice(1));
      if (anchor) anchors += 1;
      if (there === undefined ? !existsSync(join(site, file)) : anchor && !idsOf(there).has(anchor))
        dead.push(`${path}: ${target}`);
    }
  }
  expect(anchors).toBeGreaterThan(300);
  expect(dead).toEqual([]);
});

test("no page of the site loads anything from another host", () => {
  for (const [path, html] of pages) {
    const loaded = [...html.matchAll(/<(?:script|img|link|iframe)[^>]* (?:src|href)="(https?:[^"]+)"/g)];
    expect([path, loaded.map(([, url]) => url)]).toEqual([path, []]);
  }
});

test("the reference covers every value exported by the package's root, and every operation and schema of the API", async () => {
  const ids = idsOf(pages.get("reference/library.html") ?? "");
  const names = Object.keys(library);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !ids.has(name.toLowerCase().replaceAll("_", "-")))).toEqual([]);
  const { app } = createMemoryApi();
  const document = (await (await app.request("/openapi.json")).json()) as {
    paths: Record<string, Record<string, { summary: string }>>;
    components: { schemas: object };
  };
  const html = pages.get("reference/http-api.html") ?? "";
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(operations.length).toBeGreaterThan(30);
  expect(operations.filter((each) => !html.includes(`<code>${each}</code>`))).toEqual([]);
  const schemas = Object.keys(document.components.schemas);
  const anchors = idsOf(html);
  expect(schemas.filter((name) => !anchors.has(name.toLowerCase()))).toEqual([]);
});
