import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ERROR_KINDS } from "../../src/media/errors.ts";
import { writeSettings } from "../../worker/local/build/write-settings.ts";
import { clip } from "../fixtures/clips.ts";
import { openRig } from "../judge/rig.ts";
import { codeIn } from "../package/rig.ts";
import { ROOT } from "../structure/source-files.ts";
import { createMemoryApi, KEY } from "../worker/api/memory-api.ts";
import { readDocument, readDocuments } from "./documents.ts";

const documents = readDocuments();
const everything = documents.map(({ text }) => text).join("\n");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

test("the README has at most 150 lines, a picture and the two main commands", () => {
  const { text } = readDocument("README.md");
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  expect(text).toMatch(/^!\[.+\]\(web\/examples\/\w+\.png\)$/m);
  for (const command of ["npm ci && npm run demo", "npm ci && npm test"])
    expect(codeIn(text, "sh")).toContain(`${command}\n`);
});

test("every npm command in the documents exists", () => {
  const named = [...everything.matchAll(/npm (?:run )?([a-z0-9:]+)/g)].map(([, name = ""]) => name);
  expect(named).toContain("demo");
  const commands = new Set([...Object.keys(scripts), "ci", "pack", "install"]);
  expect(named.filter((name) => !commands.has(name))).toEqual([]);
});

test("every file that an npm script runs exists", () => {
  for (const command of Object.values<string>(scripts)) {
    for (const [path] of command.matchAll(/[\w./-]+\.ts/g))
      expect(existsSync(join(ROOT, path)), path).toBe(true);
  }
});

test("the tables of settings match the schema; npm run docs:settings updates them", () => {
  const { text } = readDocument("docs/settings.md");
  expect(writeSettings(text)).toBe(text);
});

test("every file and folder that the documents name exists", () => {
  const paths = [...everything.matchAll(/`((?:src|worker|web|bench|test|docs)\/[\w./-]*)`/g)];
  const named = [...new Set(paths.map(([, path = ""]) => path))];
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("the troubleshooting page lists every kind of error once", () => {
  const headings = [...readDocument("docs/troubleshooting.md").text.matchAll(/^### (\w+)$/gm)];
  expect(headings.map(([, kind]) => kind).sort()).toEqual([...ERROR_KINDS].sort());
});

test("the API accepts every curl request in the documents", async () => {
  const { app } = createMemoryApi();
  const commands = documents.flatMap(({ path, text }) =>
    codeIn(text, "sh")
      .filter((code) => code.startsWith("curl "))
      .map((code) => ({ path, code })),
  );
  expect(commands.length).toBeGreaterThan(5);
  const order = commands.toSorted((a, b) => Number(isTest(a.code)) - Number(isTest(b.code)));
  const ids: Record<string, string> = {};
  for (const { path, code } of order) {
    const [, url = "", body] = /^curl (\S+).*?(?:-d '(.+)')?\s*$/s.exec(code) ?? [];
    expect([path, new URL(url).port, /Bearer \$KEY/.test(code)]).toEqual([path, "8787", true]);
    // Replace the ids of the examples with those of the records created here.
    const at = new URL(url).pathname.replace(/\b(task|conn)_\w+/, (id, type: string) => ids[type] ?? id);
    const headers = { ...KEY, "Content-Type": "application/json" };
    const init = body === undefined ? { headers } : { method: "POST", headers, body };
    const answer = await app.request(at, init);
    const record = (await answer.json()) as { id?: string; kind?: string; message?: string };
    expect([code, answer.status < 300, record.message]).toEqual([code, true, undefined]);
    const [type = ""] = record.id?.split("_") ?? [];
    if (record.id) ids[type] = record.id;
  }
});

test("the shell commands that upload a local file make it the input of a task", async () => {
  const rig = await openRig();
  try {
    const code = codeIn(readDocument("docs/service.md").text, "sh").find((each) => each.startsWith("FILE="));
    const folder = await mkdtemp(join(tmpdir(), "framewright-upload-"));
    await copyFile(await clip("mov"), join(folder, "holiday.mov"));
    const script = code?.replaceAll("http://127.0.0.1:8787", rig.url) ?? "exit 1";
    const env = { ...process.env, KEY: rig.key };
    const { stdout } = await promisify(execFile)("sh", ["-euc", script], { cwd: folder, env });
    const { id } = JSON.parse(stdout);
    // The event stream of a task ends when the task does.
    const headers = { Authorization: `Bearer ${rig.key}` };
    await (await fetch(`${rig.url}/tasks/${id}/events`, { headers })).text();
    const { body } = await rig.door.request("GET", `/tasks/${id}`);
    expect(body).toMatchObject({ status: "succeeded", input: expect.stringMatching(/holiday\.mov$/) });
    await rm(folder, { recursive: true });
  } finally {
    await rig.close();
  }
}, 240_000);

// Requests that need a record run after those that create one.
function isTest(code: string): boolean {
  return /\/(task|conn)_\w+/.test(code) || code.includes('"s3://');
}
