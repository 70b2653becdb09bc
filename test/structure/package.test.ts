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

interface LockedPackage extends Partial<Manifest> {
  version?: string;
  /** Hash of its tarball. */
  integrity?: string;
  inBundle?: boolean;
}

const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const lockText = readFileSync(join(ROOT, "package-lock.json"), "utf8");
const lock: { packages: Record<string, LockedPackage> } = JSON.parse(lockText);
// npm resolves a package next to its dependent, then further up.
function isLocked(path: string, name: string): boolean {
  if (lock.packages[`${path ? `${path}/` : ""}node_modules/${name}`]) return true;
  return path !== "" && isLocked(path.slice(0, Math.max(0, path.lastIndexOf("/node_modules/"))), name);
}

const direct = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });

test("every dependency is pinned to an exact version", () => {
  expect(direct.length).toBeGreaterThan(15);
  expect(direct.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

test("the lock file matches the manifest", () => {
  expect(lock.packages[""]?.dependencies).toEqual(manifest.dependencies);
  expect(lock.packages[""]?.devDependencies).toEqual(manifest.devDependencies);
  const locked = direct.map(([name]) => [name, lock.packages[`node_modules/${name}`]?.version]);
  expect(locked).toEqual(direct);
});

test("the lock file has the optional packages of every platform, which npm ci requires", () => {
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(path, name)),
  );
  expect(missing).toEqual([]);
});

test("the lock file names no host, so any registry works", () => {
  expect(lockText.match(/"resolved"/g)).toBeNull();
  const hosts = lockText.match(/(?:git\+)?(?:https?|ssh):\/\/[^"]+/g) ?? [];
  // Only the funding URLs of packages may appear.
  const funding = JSON.stringify(
    Object.values(lock.packages).map((entry) => "funding" in entry && entry.funding),
  );
  expect(hosts.filter((host) => !funding.includes(host))).toEqual([]);
});

test("the lock file has the hash of every package", () => {
  // A package inside another one's archive has the checksum of that one.
  const bare = Object.entries(lock.packages).filter(
    ([path, { integrity, inBundle }]) => path !== "" && !integrity && !inBundle,
  );
  expect(bare.map(([path]) => path)).toEqual([]);
});

test("the license exists, and so do the sources of all exports", () => {
  // Our own code is MIT; the built files hold the cores, mediabunny, libheif, and the AVIF encoder.
  expect(manifest.license).toBe(
    "MIT AND GPL-2.0-or-later AND LGPL-3.0-only AND MPL-2.0 AND Apache-2.0 AND Bitstream-Vera",
  );
  expect(lock.packages[""]?.license).toBe(manifest.license);
  expect(readFileSync(join(ROOT, "LICENSE"), "utf8")).toContain("Framewright contributors");
  const { "./package.json": own, ...exported } = manifest.exports;
  expect(own).toBe("./package.json");
  // Test/package runs these two.
  const { "./ffmpeg-core.js": _, "./framewright-core.wasm": __, ...built } = exported;
  const sources = Object.values(built).flatMap((paths) =>
    Object.values(paths).map((path) => path.replace(/^\.\/dist\/lib\/(.+?)(\.d\.ts|\.js)$/, "$1.ts")),
  );
  expect(sources).toContain("src/index.ts");
  for (const path of sources) expect(globSync(path, { cwd: ROOT }), path).not.toEqual([]);
});
