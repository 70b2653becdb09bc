import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeSettings } from "../../worker/settings/document.ts";
import { ROOT } from "./run-script.ts";

const readme = readFileSync(join(ROOT, "README.md"), "utf8");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

test("every npm command in the README is there", () => {
  const named = [...readme.matchAll(/npm (?:run )?([a-z0-9:]+)/g)].map(([, name = ""]) => name);
  expect(named).toContain("demo");
  const known = new Set([...Object.keys(scripts), "ci", "pack", "install"]);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("every script is a file of its own or a known tool", () => {
  for (const command of Object.values<string>(scripts)) {
    for (const [path] of command.matchAll(/[\w./-]+\.ts/g))
      expect(existsSync(join(ROOT, path)), path).toBe(true);
  }
});

test("the tables of settings are those of the schema: npm run docs:settings writes them", () => {
  expect(writeSettings(readme)).toBe(readme);
});

test("every folder that the README names is there", () => {
  const folders = [...readme.matchAll(/`((?:src|worker|bench|test)\/[\w/]*)`/g)].map(([, path = ""]) => path);
  expect(folders.length).toBeGreaterThan(10);
  expect(folders.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
