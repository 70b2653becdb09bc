import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../structure/source-files.ts";
import { anchorsOf, readDocument, readDocuments, withoutCode } from "./documents.ts";

const documents = readDocuments();
// Generated with the site, and checked in site.ffmpeg.test.ts.
const GENERATED = "docs/reference/";
// The only hosts that the documents link to.
const HOSTS = [
  "developers.cloudflare.com",
  "github.com",
  "keepachangelog.com",
  "semver.org",
  "www.standardwebhooks.com",
];

interface Link {
  from: string;
  target: string;
}

const links: Link[] = documents.flatMap(({ path, text }) =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({ from: path, target })),
);
const isOutside = ({ target }: Link) => /^[a-z]+:/.test(target);

test("every relative link leads to a file, and every anchor to a heading", () => {
  const inside = links.filter((link) => !isOutside(link));
  expect(inside.length).toBeGreaterThan(80);
  const dead = inside.filter(({ from, target }) => {
    const [file = "", anchor] = target.split("#");
    const path = file === "" ? from : posix.join(posix.dirname(from), file);
    if (path.startsWith(GENERATED)) return false;
    if (!existsSync(join(ROOT, path))) return true;
    return anchor !== undefined && !anchorsOf(readDocument(path)).has(anchor);
  });
  expect(dead).toEqual([]);
});

test("links lead only to known sites", () => {
  const hosts = new Set(links.filter(isOutside).map(({ target }) => new URL(target).hostname));
  expect([...hosts].sort()).toEqual(HOSTS);
});

test("the home page and the sidebar link to every page", () => {
  const home = withoutCode(readDocument("docs/index.md").text);
  const sidebar = readDocument("docs/.vitepress/config.ts").text;
  const pages = documents.map(({ path }) => path).filter((path) => /^docs\/(?!index\.md)/.test(path));
  expect(pages.length).toBeGreaterThan(15);
  const missing = pages.filter((path) => {
    const page = path.slice("docs/".length);
    return !home.includes(`(${page})`) || !sidebar.includes(`"/${page.replace(/\.md$/, "")}"`);
  });
  expect(missing).toEqual([]);
});

test("no document contains a path of a local machine", () => {
  const wrong = documents.filter(({ text }) => /\/(?:home|root|work|Users)\/\w|\/tmp\//.test(text));
  expect(wrong.map(({ path }) => path)).toEqual([]);
});
