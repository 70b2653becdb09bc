import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type Service, startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { findProgram } from "../../worker/local/system.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { NO_LIMITS } from "../fixtures/no-limits.ts";
import { startOrigin } from "../fixtures/origin.ts";
import { family, type RunningScript, runCommand, running, runScript, visibleFacts } from "./run-script.ts";

const READY = /^ready (http:\/\/127\.0\.0\.1:\d+)$/m;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-local-"));
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

const state = () => join(folder, "state");
const KEY = "key-of-the-tests";
const env = (more: Record<string, string> = {}) => ({
  PORT: "0",
  STATE_DIR: state(),
  API_KEYS: KEY,
  ...NO_LIMITS,
  ...more,
});

async function start(more: Record<string, string> = {}, tell?: (line: string) => void): Promise<Service> {
  const service = await startService({ ...parseSettings(env(more)), ...(tell && { tell }) });
  onTestFinished(() => service.kill("SIGKILL"));
  return service;
}

async function expectGone(pids: readonly number[]): Promise<void> {
  expect(pids.length).toBeGreaterThan(4);
  await vi.waitFor(() => expect(running(pids)).toEqual([]), { timeout: 30_000, interval: 20 });
}

const logOf = (name: string) => readFileSync(join(state(), "logs", `${name}.log`), "utf8");

async function health(url: string): Promise<number> {
  return (await fetch(`${url}/health`)).status;
}

// AVI needs ffprobe, which only the encoder has.
async function probeThroughEncoder(service: Service): Promise<string> {
  const clip = await makeClip("avi", [
    ...["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=5:duration=1"],
    ...["-c:v", "mjpeg"],
  ]);
  const origin = await startOrigin();
  onTestFinished(origin.close);
  const headers = { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ kind: "probe", input: { url: origin.serve("/clip.avi", { file: clip }) } });
  let step = await (await fetch(`${service.url}/steps`, { method: "POST", headers, body })).json();
  await vi.waitUntil(
    async () => {
      step = await (await fetch(`${service.url}/steps/${step.id}`, { headers })).json();
      return step.finished_at;
    },
    { timeout: 60_000, interval: 100 },
  );
  return step.error?.kind ?? step.output.format;
}

test("npm run dev reports ready, exposes no secret, and ends all its processes on SIGTERM", async () => {
  const script = runCommand("npm", ["run", "dev"], env({ API_KEYS: "ours:very-secret-key" }));
  const [, url = ""] = await script.line(READY);
  expect(await health(url)).toBe(200);
  await expectNoSecrets(script, url);
  await expectEnd(script, url, "SIGTERM");
});

// Not in arguments, environments, logs or output.
async function expectNoSecrets(script: RunningScript, url: string): Promise<void> {
  const ask = async (key: string) =>
    (await fetch(`${url}/tasks`, { headers: { Authorization: `Bearer ${key}` } })).status;
  expect([await ask("very-secret-key"), await ask("dev-key")]).toEqual([200, 401]);
  expect(readdirSync(state())).not.toContain("api-key");
  const key_file = join(state(), "media-signing-key");
  const signing_key = readFileSync(key_file, "utf8");
  expect(signing_key).toMatch(/^[\w-]{43}$/);
  expect(statSync(key_file).mode & 0o777).toBe(0o600);
  // npm itself has the key in its environment, from this test.
  const own = family(script.pid).find((pid) => visibleFacts(pid).includes("dev.ts\0")) ?? 0;
  const [, ...started] = family(own);
  expect(started.length).toBeGreaterThan(3);
  const logs = readdirSync(join(state(), "logs")).map((name) =>
    readFileSync(join(state(), "logs", name), "utf8"),
  );
  const seen = [...started.map(visibleFacts), ...logs, script.output()].join("\n");
  expect(seen).toContain("workerd");
  expect(seen).not.toContain("very-secret-key");
  expect(seen).not.toContain(signing_key);
}

async function expectEnd(script: RunningScript, url: string, signal: NodeJS.Signals): Promise<void> {
  const pids = family(script.pid);
  script.child.kill(signal);
  await expectGone(pids);
  await expect(health(url)).rejects.toThrow("fetch failed");
  expect(await readdir(state())).not.toContain("service.json");
}

test("without ffmpeg it warns once what will fail, runs the rest, and ends on SIGINT", async () => {
  // A PATH with the programs of npm, but without ffmpeg.
  const bare = join(folder, "bin");
  await mkdir(bare);
  for (const name of ["env", "node", "npm", "sh"]) await symlink(findProgram(name) ?? "", join(bare, name));
  const script = runCommand("npm", ["run", "dev"], env({ PATH: bare }));
  const [, url = ""] = await script.line(READY);
  const [warning, ...more] = script.output().match(/^.*ffmpeg.*$/gm) ?? [];
  expect(warning).toMatch(/^ffmpeg is not installed: heavy work \(.+\) will fail as encoder_unavailable;/);
  expect(more).toEqual([]);
  expect(await health(url)).toBe(200);
  await expectEnd(script, url, "SIGINT");
});

test("a start ends the orphans of a killed service and keeps its state, key and port; no process outlives a killed supervisor", async () => {
  const key = () => readFileSync(join(state(), "media-signing-key"), "utf8");
  const first = runScript("dev", [], env());
  const [, url = ""] = await first.line(READY);
  const pids = family(first.pid);
  // Kill all Node processes at once, so that none is left to end workerd.
  for (const pid of pids) if (visibleFacts(pid).includes(".ts\0")) process.kill(pid, "SIGKILL");
  await first.ended;
  const signing_key = key();
  const orphans = running(pids);
  expect(orphans.length).toBeGreaterThan(1);

  const second = runScript("dev", [], env({ PORT: new URL(url).port }));
  expect((await second.line(READY))[1]).toBe(url);
  expect(await health(url)).toBe(200);
  expect(running(orphans)).toEqual([]);
  expect(key()).toBe(signing_key);
  await expect(start()).rejects.toThrow(/^A service \(process \d+\) already runs on /);
  const others = family(second.pid);
  second.child.kill("SIGKILL");
  await expectGone(others);
  expect(await readdir(state())).toContain("service.json");
});

test("a signal ends it during its start", async () => {
  const script = runScript("dev", [], env());
  const hosts = await vi.waitUntil(() => family(script.pid).length > 2 && family(script.pid), {
    timeout: 30_000,
  });
  script.child.kill("SIGTERM");
  expect(await script.ended).toBe(0);
  expect(running(hosts)).toEqual([]);
  expect(script.output()).not.toContain("ready");
});

test("an aborted start starts nothing", async () => {
  await expect(startService({ ...parseSettings(env()), signal: AbortSignal.abort() })).rejects.toThrow(
    "abort",
  );
  expect(await readdir(state())).not.toContain("service.json");
});

test("restarts a killed native encoder, encoder worker or service, while another service runs alongside", async () => {
  const lines: string[] = [];
  const [service, other] = await Promise.all([
    startService({ ...parseSettings(env()), native: 2, tell: (line) => lines.push(line) }),
    start({ STATE_DIR: join(folder, "other"), NATIVE_ENCODER_URL: "http://127.0.0.1:9" }),
  ]);
  onTestFinished(() => service.kill("SIGKILL"));
  expect(service.url).not.toBe(other.url);
  expect(await Promise.all([probeThroughEncoder(service), probeThroughEncoder(other)])).toEqual([
    "avi",
    "avi",
  ]);
  // NATIVE_ENCODER_URL names an encoder elsewhere, so the other service starts none.
  expect(other.pids("native")).toEqual([]);
  await other.stop();
  expect(await health(service.url)).toBe(200);

  const [one = 0, two = 0] = service.pids("native");
  const port = () => /"url":"[^"]*:(\d+)"/.exec(logOf("native-1").trim().split("\n").at(-1) ?? "")?.[1];
  const before = port();
  process.kill(one, "SIGKILL");
  await vi.waitFor(() => expect(service.pids("native").filter((pid) => pid !== two)).toHaveLength(1), {
    timeout: 30_000,
  });
  await vi.waitFor(() => expect(logOf("native-1").match(/"url"/g)).toHaveLength(2), { timeout: 60_000 });
  expect(port()).toBe(before);
  expect(running([two])).toEqual([two]);
  const answer = await fetch(`http://127.0.0.1:${before}/jobs/x`);
  expect(answer.status).toBe(401);

  const [leader = 0, ...others] = service.pids("framewright-encoder");
  process.kill(leader, "SIGKILL");
  await vi.waitFor(() => expect(running(others)).toEqual([]), { timeout: 30_000 });
  const back = () => vi.waitFor(async () => expect(await probeThroughEncoder(service)).toBe("avi"), 60_000);
  await back();
  const api = service.pids("framewright");
  for (const pid of api) process.kill(pid, "SIGKILL");
  await vi.waitFor(async () => expect(await health(service.url)).toBe(200), { timeout: 60_000 });
  await back();
  // Where the fast core has not been built, the start says so.
  expect(lines.filter((line) => !line.startsWith("The fast core"))).toEqual([
    "native-1 ended (SIGKILL); starting it again.",
    "framewright-encoder ended (SIGKILL); starting it again.",
    "framewright ended (SIGKILL); starting it again.",
  ]);
});

test("names a port that is in use", async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  await expect(start({ PORT: String(port) })).rejects.toThrow(
    `Port ${port} is in use: set PORT to another, or to 0 for any free one.`,
  );
});

test("names a state folder that cannot be written", async () => {
  await writeFile(state(), "a file, not a folder");
  await expect(start()).rejects.toThrow(`Cannot write to STATE_DIR ${state()}`);
});

test("npm run dev exits with one line about wrong settings", async () => {
  const script = runScript("dev", [], env({ PORT: "http", MAX_INPUT_BYTES: "5 gigs" }));
  expect(await script.ended).toBe(1);
  expect(script.output()).toBe(
    "error: MAX_INPUT_BYTES must be a number of bytes, or a size such as 500 MB or 2 GiB, from 1 B to 50 GB, " +
      'not "5 gigs". PORT must be a whole number from 0 to 65535, not "http".\n',
  );
});
