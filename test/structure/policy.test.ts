import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./source-files.ts";

/** An element of media-chrome that can render its shadow root. */
interface Templated {
  getTemplateHTML(attributes: object, properties: object): string;
}

const FOLDER = join(ROOT, "node_modules", "media-chrome", "dist");

// Loads the elements with the package's own shim for environments without a page.
async function readElements(names: readonly string[]): Promise<Templated[]> {
  const shim = await import(join(FOLDER, "utils", "server-safe-globals.js"));
  const elements = new Map<string, Templated>();
  shim.globalThis.customElements = {
    get: (name: string) => elements.get(name),
    define: (name: string, element: Templated) => elements.set(name, element),
  };
  for (const name of names) await import(join(FOLDER, `${name}.js`));
  return [...elements.values()];
}

test("the page's CSP allows exactly the styles of the player's elements, by hash", async () => {
  const player = readFileSync(join(ROOT, "web", "result", "player.tsx"), "utf8");
  const names = [...player.matchAll(/"media-chrome\/(media-[a-z-]+)"/g)].map(([, name]) => name ?? "");
  const elements = await readElements(names);
  expect(elements.length).toBeGreaterThan(names.length);
  const templates = elements.map((element) => element.getTemplateHTML({}, {}));
  const styles = templates.flatMap((html) => [...html.matchAll(/<style>(.*?)<\/style>/gs)]);
  const hashes = styles.map(
    ([, text]) => `'sha256-${createHash("sha256").update(`${text}`).digest("base64")}'`,
  );
  const headers = readFileSync(join(ROOT, "web", "public", "_headers"), "utf8");
  const [, allowed = ""] = /style-src ([^;]+);/.exec(headers) ?? [];
  expect(allowed.split(" ").sort()).toEqual([...new Set(["'self'", ...hashes])].sort());
  expect(templates.filter((html) => / style=/.test(html))).toEqual([]);
  // The host drops longer lines.
  expect(Math.max(...headers.split("\n").map((line) => line.length))).toBeLessThan(2000);
});

test("the page's CSP allows exactly the script in its head, by hash", () => {
  const [page = "", headers = ""] = ["index.html", join("public", "_headers")].map((path) =>
    readFileSync(join(ROOT, "web", path), "utf8"),
  );
  const hashes = [...page.matchAll(/<script>(.*?)<\/script>/gs)].map(
    ([, text]) => `'sha256-${createHash("sha256").update(`${text}`).digest("base64")}'`,
  );
  const [, allowed = ""] = /script-src ([^;]+);/.exec(headers) ?? [];
  expect(allowed.split(" ")).toEqual(["'self'", "'wasm-unsafe-eval'", ...hashes]);
});
