import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../structure/source-files.ts";
import type { Entry } from "./run.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const manifest = new Map(
  Object.entries(JSON.parse(read("test/strangers/manifest.json")) as Record<string, Entry>),
);
const verdicts = [...manifest].flatMap(([sha, { hosts }]) =>
  Object.entries(hosts).map(([host, verdict]) => ({ sha, host, ...verdict })),
);

test("has the hashes of a thousand public files, and what became of each", () => {
  expect(manifest.size).toBeGreaterThanOrEqual(1000);
  for (const [sha, { from, decodes, hosts }] of manifest) {
    expect(sha).toMatch(/^[\da-f]{64}$/);
    expect(from).toMatch(/^[\w.-]+\/[\w.-]+$/);
    expect(decodes).toMatch(/^(clean|damaged|no)$/);
    expect(Object.keys(hosts), sha).not.toEqual([]);
  }
  for (const { result, reason, sha } of verdicts) {
    expect(result).toMatch(/^(read|refused|wrong)$/);
    if (result !== "read") expect(reason, sha).toMatch(/\S/);
  }
});

test("every output that is wrong is listed with its reason", () => {
  const page = read("docs/strangers.md");
  const wrong = verdicts.filter(({ result }) => result === "wrong");
  expect(wrong.filter(({ sha }) => !page.includes(sha.slice(0, 8)))).toEqual([]);
});

test("no host hangs or crashes", () => {
  expect(verdicts.filter(({ reason }) => /^(no answer|the host crashed)/.test(reason ?? ""))).toEqual([]);
});
