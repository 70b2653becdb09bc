import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ipaddr from "ipaddr.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../../src/core/task.ts";
import { type Service, startService } from "../../../worker/local/service.ts";
import { openState } from "../../../worker/local/state.ts";
import { createHost } from "../../../worker/local/supervisor.ts";
import { registryOf, workerProgram } from "../../../worker/local/worker-program.ts";
import { type NameServer, startNameServer } from "../../fixtures/dns.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { PRIVATE } from "../../storage/private-hosts.ts";

let dir: string;
let origin: Origin;
let names: NameServer;
let service: Service;

// The service as one that is hosted at home: private hosts are refused, but for the one that leads elsewhere.
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "fw-outside-"));
  origin = await startOrigin();
  names = await startNameServer((name, before) => {
    const [what] = name.split(".");
    if (what === "rebound") return [before === 0 ? "93.184.216.34" : "127.0.0.1"];
    return what === "inside" ? ["127.0.0.1"] : ["93.184.216.34"];
  });
  service = await startService({
    port: 0,
    api_keys: "good-key",
    state_dir: join(dir, "state"),
    vars: { ALLOW_PRIVATE_NETWORK: "false", ALLOWED_HOSTS: new URL(origin.url).host, WATCH_SECONDS: "5" },
    native: 0,
    dns: [names.address],
  });
});
afterAll(async () => {
  await service?.stop();
  names?.close();
  await origin?.close();
  await rm(dir, { recursive: true, force: true });
});

async function ask(path: string, init: RequestInit = {}) {
  const headers = { Authorization: "Bearer good-key", "Content-Type": "application/json" };
  const response = await fetch(service.url + path, { ...init, headers });
  return { status: response.status, answer: await response.json() };
}

async function run(input: string): Promise<Task> {
  const { status, answer } = await ask("/tasks", {
    method: "POST",
    body: JSON.stringify({ input, kind: "image" }),
  });
  expect([status, answer]).toMatchObject([201, { status: "queued" }]);
  const ended = async () => (await ask(`/tasks/${(answer as Task).id}`)).answer as Task;
  await expect.poll(async () => (await ended()).status, { timeout: 120_000 }).toBe("failed");
  return ended();
}

test("a name that is private is refused at once, and one that becomes so when the run asks it", async () => {
  const { port } = new URL(origin.url);
  const body = JSON.stringify({ input: `http://inside.example.com:${port}/a.jpg`, kind: "image" });
  const refused = await ask("/tasks", { method: "POST", body });
  expect(refused).toMatchObject({ status: 400, answer: { kind: "invalid_input", param: "input" } });
  const { error } = await run(`http://rebound.example.com:${port}/a.jpg`);
  expect(error).toMatchObject({ kind: "input_forbidden", retryable: false });
  expect(error?.message).toContain("rebound.example.com has an address that is not public");
  expect(origin.log).toEqual([]);
});

test("no redirect to a host that is not public is followed", async () => {
  const targets = [
    "http://127.0.0.1:1/",
    "http://2130706433/",
    "http://[::ffff:127.0.0.1]/",
    "http://localhost/",
    "http://inside.example.com/",
    "http://169.254.169.254/latest/meta-data/",
    "file:///etc/passwd",
    "http://user:password@example.com/",
  ];
  const runs = targets.map((redirect, index) => run(origin.serve(`/to-${index}`, { redirect })));
  for (const { error } of await Promise.all(runs)) {
    expect(error).toMatchObject({ kind: "input_forbidden", retryable: false });
    expect(error?.message).not.toMatch(/latest|passwd|password@/);
  }
});

test("the network that requests go through connects to public addresses alone, whatever a name means", async () => {
  const lines: string[] = [];
  const state = await openState(join(dir, "bare"));
  const worker = createHost(workerProgram("outside", state), state, (line) => lines.push(line));
  const place = { data: join(dir, "bare", "data"), registry: registryOf(state), assets: null };
  const config = join(import.meta.dirname, "network", "wrangler.toml");
  try {
    const url = await worker.start({
      config,
      port: 0,
      ...place,
      watch: false,
      dns: [],
      vars: {},
      secrets: {},
    });
    const { port } = new URL(origin.url);
    origin.forget();
    const numbers = PRIVATE.map((each) => new URL(each)).filter(({ hostname }) =>
      ipaddr.isValid(hostname.replace(/^\[|\]$/g, "")),
    );
    // The system resolves this name, and the network judges what comes of it.
    const targets = [`http://localhost:${port}/a`, `${origin.url}/a`, ...numbers.map(String)];
    const answers = targets.map(async (target) => {
      const answer = await fetch(`${url}/?url=${encodeURIComponent(target)}`);
      return [target, await answer.json()];
    });
    expect(await Promise.all(answers)).toEqual(targets.map((target) => [target, null]));
    expect(origin.log).toEqual([]);
  } finally {
    await worker.end("SIGKILL");
    state.release();
  }
});
