import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { registryOf, workerProgram } from "../../../worker/local/programs.ts";
import { ROOT } from "../../../worker/local/settings.ts";
import { openState } from "../../../worker/local/state.ts";
import { createHost } from "../../../worker/local/supervisor.ts";
import { startHttpsResolver } from "../../fixtures/dns-over-https.ts";
import { startOrigin } from "../../fixtures/origin.ts";

// Addresses that the owner of a name may set; every answer of the resolver begins with an alias.
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "public.example.com": ["93.184.216.34"],
  "inside.example.com": ["10.1.2.3"],
  "mapped.example.com": ["::ffff:127.0.0.1"],
  "away.example.com": ["169.254.169.254"],
};

/** Starts the service as deployed: without the network and the look-up of a local one. The test harness would follow redirects itself. */
async function startDeployed(vars: Record<string, string>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "fw-deployed-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const state = await openState(dir);
  onTestFinished(() => state.release());
  const host = createHost(workerProgram("framewright", state), state, console.error);
  onTestFinished(() => host.end());
  const assets = join(dir, "assets");
  await mkdir(assets);
  return host.start({
    config: join(ROOT, "wrangler.toml"),
    port: 0,
    watch: false,
    dns: null,
    media: null,
    assets,
    data: join(dir, "data"),
    registry: registryOf(state),
    vars: { ALLOW_PRIVATE_NETWORK: "false", NATIVE_INSTANCES: "0", ...vars },
    secrets: { API_KEYS: "a-key", MEDIA_SIGNING_KEY: "a-signing-key-of-32-characters-for-tests" },
  });
}

test("a deployed service asks the resolver of DNS_RESOLVER, and refuses names with private addresses", async () => {
  const resolver = await startHttpsResolver((name) => NAMES[name] ?? []);
  onTestFinished(() => resolver.close());
  const origin = await startOrigin();
  onTestFinished(() => origin.close());
  const base = await startDeployed({
    ALLOWED_HOSTS: new URL(origin.url).host,
    DNS_RESOLVER: resolver.url,
  });
  const headers = { Authorization: "Bearer a-key", "Content-Type": "application/json" };
  const create = (input: string) =>
    fetch(`${base}/tasks`, {
      method: "POST",
      headers,
      body: JSON.stringify({ input, kind: "image" }),
    });
  for (const [name, expected] of [
    ["public.example.com", [201, undefined, undefined]],
    ["inside.example.com", [400, "invalid_input", "input"]],
    ["mapped.example.com", [400, "invalid_input", "input"]],
  ] as const) {
    const response = await create(`https://${name}/a.png`);
    const { kind, param } = (await response.json()) as { kind?: string; param?: string };
    expect([name, response.status, errorKind(kind), param]).toEqual([name, ...expected]);
    expect(resolver.queries).toEqual(expect.arrayContaining([`A ${name}`, `AAAA ${name}`]));
  }
  // A name that only a redirect names is looked up too.
  const away = origin.serve("/away.png", { redirect: "https://away.example.com/latest/meta-data" });
  const { id } = (await (await create(away)).json()) as Task;
  const find = async () => (await (await fetch(`${base}/tasks/${id}`, { headers })).json()) as Task;
  await expect.poll(async () => (await find()).finished_at, { timeout: 60_000 }).not.toBeNull();
  const { error } = await find();
  expect(error).toMatchObject({ kind: "input_forbidden", retryable: false });
  expect(error?.message).toContain("away.example.com has an address that is not public");
  expect(error?.message).not.toContain("meta-data");
  expect(resolver.queries).toEqual(expect.arrayContaining(["A away.example.com", "AAAA away.example.com"]));
});

// A task has a kind too.
const errorKind = (kind: string | undefined) => (kind === "image" ? undefined : kind);
