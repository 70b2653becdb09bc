import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PASSED_ON } from "../../worker/local/settings.ts";
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

test("every setting is in the README, and nothing else is", () => {
  const listed = [...readme.matchAll(/^\| `([A-Z_]+)` +\|/gm)].map(([, name]) => name).sort();
  const secrets = ["API_KEYS", "MEDIA_SIGNING_KEY", "CONNECTION_KEYS"];
  const local = ["PORT", "STATE_DIR", "ALLOW_PRIVATE_NETWORK"];
  const native = ["NATIVE_ENCODER_TOKEN", "NATIVE_INSTANCES"];
  expect(listed).toEqual([...local, ...secrets, ...native, ...PASSED_ON].sort());
});

test("every folder that the README names is there", () => {
  const folders = [...readme.matchAll(/`((?:src|worker|bench|test)\/[\w/]*)`/g)].map(([, path = ""]) => path);
  expect(folders.length).toBeGreaterThan(10);
  expect(folders.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
