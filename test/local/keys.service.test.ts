import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { ROOT, runScript } from "./run-script.ts";

let folder: string;
let service: Service;
/** Output of the first command, for which no service ran, and the files that it left. */
let early: { output: string; left: string[] };
// Two starts of the service, each of which takes a slow machine a minute.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-keys-"));
  const create = [join(ROOT, "worker", "local", "keys.ts"), "create", "early", "--project", "ours"];
  const env = { ...process.env, STATE_DIR: folder };
  const { stdout } = await promisify(execFile)(process.execPath, create, { env });
  early = { output: stdout, left: await readdir(folder) };
  service = await startService(parseSettings({ PORT: "0", STATE_DIR: folder, API_KEYS: "alpha:listed" }));
}, 300_000);
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const keys = (...args: string[]) => keysWith({ STATE_DIR: folder }, ...args);

async function keysWith(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ code: unknown; output: string }> {
  const script = runScript("keys", args, env);
  return { code: await script.ended, output: script.output() };
}

async function status(key: string, path = "/tasks", body?: unknown): Promise<number> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  return (await fetch(service.url + path, { headers, ...init })).status;
}

function keyIn(output: string): string {
  const key = /^fw_live_\w+$/m.exec(output)?.[0];
  if (!key) throw new Error(output);
  return key;
}

test("a new key works on the running service within its scopes, is listed without its secret, and can be rolled and revoked once", async () => {
  const created = await keys("create", "my laptop", "--project", "ours", "--scopes", "read,admin");
  expect(created.code, created.output).toBe(0);
  const key = keyIn(created.output);
  const id = /key_\w+/.exec(created.output)?.[0] ?? "";
  expect([await status(key), await status(key, "/keys"), await status(key, "/tasks", {})]).toEqual([
    200, 200, 403,
  ]);
  expect(await status(key.slice(0, -1) + (key.endsWith("x") ? "y" : "x"))).toBe(401);

  const listed = await keys("list");
  const parts = [id, "\\d{4}-\\S+Z", "ours", "read,admin", "used \\d{4}-\\S+Z", "my laptop"];
  expect(listed.output).toMatch(new RegExp(`^${parts.join("  ")}$`, "m"));
  expect(listed.output).not.toContain(key);

  const rolled = await keys("roll", id, "--keep", "3600");
  const next = keyIn(rolled.output);
  expect(next).not.toBe(key);
  expect([await status(key), await status(next)]).toEqual([200, 200]);
  expect(await keys("revoke", id)).toMatchObject({ code: 0 });
  expect(await keys("revoke", id)).toMatchObject({ code: 1 });
});

test("a key reaches only its own project", async () => {
  const [ours, theirs] = await Promise.all(
    ["alpha", "beta"].map(async (project) => {
      return keyIn((await keys("create", `of ${project}`, "--project", project)).output);
    }),
  );
  const input = { url: "http://127.0.0.1:9/none.mp4" };
  const headers = { Authorization: `Bearer ${ours}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ kind: "probe", input });
  const step = await (await fetch(`${service.url}/steps`, { method: "POST", headers, body })).json();
  expect(await status("listed", `/steps/${step.id}`)).toBe(200);
  expect(await status(theirs ?? "", `/steps/${step.id}`)).toBe(404);
});

test("stores no key in plain text", async () => {
  const key = keyIn((await keys("create", "secret one")).output);
  expect(await status(key)).toBe(200);
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((path) => readFile(path)));
  expect(texts.filter((text) => text.includes("secret one")).length).toBeGreaterThan(0);
  expect(texts.filter((text) => text.includes(key))).toEqual([]);
});

test("manages the keys of a service elsewhere with its operator's key, and only with that", async () => {
  const OPERATOR_KEY = await readFile(join(folder, "operator-key"), "utf8");
  expect((await stat(join(folder, "operator-key"))).mode & 0o777).toBe(0o600);
  const there = ["--url", `${service.url}/`];
  // Nothing is in this folder.
  const STATE_DIR = join(folder, "none");
  const created = await keysWith({ STATE_DIR, OPERATOR_KEY }, "create", "from afar", ...there);
  const key = keyIn(created.output);
  const [id = ""] = /key_\w+/.exec(created.output) ?? [];
  expect(created.output).toMatch(/^key_\w{26}, project proj_\w{26}\. Store the key now/);
  expect(await status(key)).toBe(200);
  expect((await keysWith({ STATE_DIR, OPERATOR_KEY }, "revoke", id, ...there)).code).toBe(0);
  expect(await status(key)).toBe(401);
  const refused = await keysWith({ STATE_DIR, OPERATOR_KEY: "listed" }, "list", ...there);
  expect(refused).toEqual({
    code: 1,
    output: expect.stringMatching(/^error: http:\S+ Only an operator's key may list projects\.$/m),
  });
  expect(await keysWith({ STATE_DIR }, "list", ...there)).toEqual({
    code: 1,
    output: "error: OPERATOR_KEY must be set to that of the service.\n",
  });
});

test("starts a service that does not run, and ends it", async () => {
  expect(keyIn(early.output)).toHaveLength(73);
  expect(early.left).not.toContain("service.json");
  const { output } = await keys("list");
  expect(output).toMatch(/^key_\w+ {2}\S+Z {2}ours {2}read,write {2}never used {2}early$/m);
  expect(await status(keyIn(early.output))).toBe(200);
});

test.for([
  { args: ["create"] },
  { args: ["forget", "x"] },
  { args: [] },
  { args: ["create", "a", "--project", "no spaces"] },
])("rejects $args", async ({ args }) => {
  const { code, output } = await keys(...(args ?? []));
  expect(code).toBe(1);
  expect(output).toMatch(/^error: /);
});
