import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./source-files.ts";

interface Manifest {
  name: string;
  license: string;
  scripts: Record<string, string>;
  exports: Record<string, string | Record<string, string>>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const lockText = readFileSync(join(ROOT, "package-lock.json"), "utf8");
const lock: { packages: Record<string, Partial<Manifest> & { version?: string }> } = JSON.parse(lockText);
// npm looks for a package beside the one that asks for it, then further up.
function isLocked(path: string, name: string): boolean {
  if (lock.packages[`${path ? `${path}/` : ""}node_modules/${name}`]) return true;
  return path !== "" && isLocked(path.slice(0, Math.max(0, path.lastIndexOf("/node_modules/"))), name);
}

const direct = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });

test("every dependency is pinned to one version", () => {
  expect(direct.length).toBeGreaterThan(15);
  expect(direct.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

test("the lock file holds what the manifest asks for", () => {
  expect(lock.packages[""]?.dependencies).toEqual(manifest.dependencies);
  expect(lock.packages[""]?.devDependencies).toEqual(manifest.devDependencies);
  const locked = direct.map(([name]) => [name, lock.packages[`node_modules/${name}`]?.version]);
  expect(locked).toEqual(direct);
});

test("the lock file holds the optional packages of every platform, without which npm ci refuses it", () => {
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(path, name)),
  );
  expect(missing).toEqual([]);
});

test("the lock file names no host, so that any registry serves", () => {
  expect(lockText.match(/"resolved"/g)).toBeNull();
  const hosts = lockText.match(/(?:git\+)?(?:https?|ssh):\/\/[^"]+/g) ?? [];
  // Where to give money to a package's authors is the only address in it.
  const funding = JSON.stringify(
    Object.values(lock.packages).map((entry) => "funding" in entry && entry.funding),
  );
  expect(hosts.filter((host) => !funding.includes(host))).toEqual([]);
});

test("the license is there, and what the package exports is built of sources that are there", () => {
  expect(manifest.license).toBe("MIT");
  expect(readFileSync(join(ROOT, "LICENSE"), "utf8")).toContain("Framewright contributors");
  const { "./package.json": own, ...built } = manifest.exports;
  expect(own).toBe("./package.json");
  const sources = Object.values(built).flatMap((paths) =>
    Object.values(paths).map((path) => path.replace(/^\.\/dist\/lib\/(.+?)(\.d\.ts|\.js)$/, "$1.ts")),
  );
  expect(sources).toContain("src/index.ts");
  for (const path of sources) expect(globSync(path, { cwd: ROOT }), path).not.toEqual([]);
});
