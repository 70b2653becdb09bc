import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ipaddr from "ipaddr.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import type { WebhookDelivery } from "../../../src/runs/webhook-events.ts";
import { registryOf, workerProgram } from "../../../worker/local/programs.ts";
import { type Service, startService } from "../../../worker/local/service.ts";
import { openState } from "../../../worker/local/state.ts";
import { createHost } from "../../../worker/local/supervisor.ts";
import { type NameServer, startNameServer } from "../../fixtures/dns.ts";
import { NO_LIMITS } from "../../fixtures/no-limits.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { PRIVATE } from "../../storage/private-hosts.ts";

const KEY = "hush-api-key";
const OTHER_KEY = "hush-other-key";
// One black pixel.
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

let dir: string;
let origin: Origin;
let names: NameServer;
let service: Service;

// The service as hosted at home: private hosts are forbidden, except the origin of these tests.
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "fw-outside-"));
  origin = await startOrigin();
  names = await startNameServer((name, before) => {
    const [label] = name.split(".");
    if (label?.startsWith("rebound")) return [before === 0 ? "93.184.216.34" : "127.0.0.1"];
    return label === "inside" ? ["127.0.0.1"] : ["93.184.216.34"];
  });
  service = await startService({
    port: 0,
    api_keys: `mine:${KEY},theirs:${OTHER_KEY}`,
    state_dir: join(dir, "state"),
    vars: {
      ALLOW_PRIVATE_NETWORK: "false",
      ALLOWED_HOSTS: new URL(origin.url).host,
      WATCH_SECONDS: "5",
      LOG_LEVEL: "info",
      IMAGE_ORIGINS: origin.url,
      ...NO_LIMITS,
    },
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

async function ask(path: string, init: RequestInit = {}, key = KEY) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const response = await fetch(service.url + path, { ...init, headers });
  const text = await response.text();
  const json = response.headers.get("Content-Type") === "application/json";
  return { status: response.status, answer: json ? JSON.parse(text) : text };
}

function post(path: string, body: object) {
  return ask(path, { method: "POST", body: JSON.stringify(body) });
}

/** Runs a task to its end. */
async function run(input: string, more: object = {}): Promise<Task> {
  const { status, answer } = await post("/tasks", { input, kind: "image", ...more });
  expect([status, answer]).toMatchObject([201, { status: "queued" }]);
  const now = async () => (await ask(`/tasks/${(answer as Task).id}`)).answer as Task;
  await expect.poll(async () => (await now()).finished_at, { timeout: 120_000 }).not.toBeNull();
  return now();
}

test("rejects a private name at once, and fails a run whose name becomes private", async () => {
  const { port } = new URL(origin.url);
  origin.forget();
  const body = { input: `http://inside.example.com:${port}/a.jpg`, kind: "image" };
  const refused = await post("/tasks", body);
  expect(refused).toMatchObject({ status: 400, answer: { kind: "invalid_input", param: "input" } });
  // A new name each time, in case the test is retried.
  const name = `rebound-${Date.now()}.example.com`;
  const { error } = await run(`http://${name}:${port}/a.jpg`);
  expect(error).toMatchObject({ kind: "input_forbidden", retryable: false });
  expect(error?.message).toContain(`${name} has an address that is not public`);
  expect(origin.log).toEqual([]);
});

test("posts no event to a name that has become private", async () => {
  const webhook_url = `https://rebound-hook-${Date.now()}.example.com/hook`;
  const { error } = await run(origin.serve("/gone.png", { status: 404 }), { webhook_url });
  expect(error?.kind).toBe("input_not_found");
  const deliveries = async () => {
    const { answer } = await ask("/webhooks/deliveries?limit=100");
    return (answer as WebhookDelivery[]).filter(({ url }) => url === webhook_url);
  };
  await expect.poll(async () => (await deliveries()).map(({ status }) => status)).toContain("failed");
  const [failed] = (await deliveries()).filter(({ status }) => status === "failed");
  expect(failed?.attempts).toMatchObject([{ response_status: null }]);
  expect(failed?.error).toContain("has an address that is not public");
});

test("follows no redirect to a private host, a file or a URL with a password", async () => {
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
  for (const [index] of targets.entries()) {
    const source = `${origin.url}/to-${index}`;
    const { answer: signed } = await post("/images", { source, options: { width: 80 } });
    for (const url of [signed.url, `${service.url}/image/w=80/${encodeURIComponent(source)}`]) {
      const response = await fetch(url);
      expect([response.status, await response.json()]).toMatchObject([403, { kind: "input_forbidden" }]);
    }
  }
});

test("an image URL without a signature follows no redirect to another origin", async () => {
  const elsewhere = await startOrigin();
  const source = origin.serve("/away.png", { redirect: elsewhere.serve("/picture.png", { file: PNG }) });
  const response = await fetch(`${service.url}/image/w=1/${encodeURIComponent(source)}`);
  expect([response.status, await response.json()]).toMatchObject([403, { kind: "input_forbidden" }]);
  expect(response.headers.get("Cache-Control")).toBe("no-store");
  expect(elsewhere.log).toEqual([]);
  await elsewhere.close();
});

test("logs requests and ended tasks, but no secrets", async () => {
  // It is attempted three times, which takes a while.
  const breaking = run(`${origin.serve("/broken.png", { status: 500 })}?token=hush-token`);
  const picture = origin.serve("/picture.png", { file: PNG });
  const good = await run(`${picture}?signature=hush-signature`);
  expect(good).toMatchObject({ status: "succeeded" });
  const fetched = await fetch(good.output ?? "");
  expect([fetched.status, fetched.headers.get("Content-Type")]).toEqual([200, "image/png"]);
  const { answer: image } = await post("/images", { source: picture, options: { width: 1 } });
  expect((await fetch(image.url)).status).toBe(200);
  const connection = { name: "Mine", kind: "s3", endpoint: origin.url, region: "auto" };
  const keys = { access_key_id: "AKID", secret_access_key: "hush-secret-key" };
  const { answer } = await post("/connections", { ...connection, ...keys });
  const result = await post(`/connections/${answer.id}/test`, { bucket: "my-bucket" });
  expect(result).toMatchObject({ status: 200, answer: { ok: false } });
  const hook = `${origin.serve("/hook", { status: 500 })}?key=hush-hook`;
  const put = await run(picture, { output: "s3://my-bucket/key", webhook_url: hook });
  expect(put.error?.kind).toBe("upload_failed");
  const { answer: key } = await post("/keys", { name: "Reader", scopes: ["read"] });
  expect((await ask("/tasks", {}, key.secret)).status).toBe(200);
  const broken = await breaking;
  expect(broken.error?.kind).toBe("input_unreachable");
  await fetch(`${service.url}/tasks`, { headers: { Authorization: "Bearer hush-wrong-key" } });

  const logs = join(dir, "state", "logs");
  const texts = await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), "utf8")));
  const all = texts.join("\n");
  const lines = all.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const about = (id: string) => lines.filter((line) => line.task_id === id);
  const [created, ...rest] = about(good.id);
  expect(created).toMatchObject({
    level: "info",
    message: "request",
    project: "mine",
    method: "POST",
    route: "/tasks",
  });
  expect(created).toMatchObject({
    status: 201,
    request_id: expect.stringMatching(/^req_/),
    ms: expect.any(Number),
  });
  expect(rest).toContainEqual({
    level: "info",
    message: "task ended",
    task_id: good.id,
    project: "mine",
    kind: "image",
    status: "succeeded",
    encoder: good.steps[2]?.output?.encoder,
    ms: (good.finished_at ?? 0) - good.created_at,
  });
  const ended = { message: "task ended", status: "failed", error: "input_unreachable" };
  expect(lines).toContainEqual(expect.objectContaining({ route: "/tasks", key_id: key.id, status: 200 }));
  expect(about(broken.id)).toContainEqual(expect.objectContaining(ended));
  expect(lines).toContainEqual(expect.objectContaining({ route: "/media/*", status: 200 }));
  const [, signature] = /\/media\/([^./]+)/.exec(good.output ?? "") ?? [];
  expect(signature?.length).toBeGreaterThan(20);
  const image_signature = new URL(image.url).searchParams.get("signature") ?? "";
  expect(image_signature.length).toBeGreaterThan(20);
  for (const secret of ["hush", image_signature, "fw_live_", signature ?? "", "Bearer", "whsec_", "AKID"]) {
    expect(all.split("\n").filter((line) => line.includes(secret))).toEqual([]);
  }
});

test("metrics count each end once, per project", async () => {
  const read = async (key = KEY) => {
    const { status, answer } = await ask("/metrics", {}, key);
    expect(status).toBe(200);
    const samples = (answer as string)
      .split("\n")
      .filter((line) => /^framewright_\w+(count|total)/.test(line));
    return new Map(
      samples.map((line): [string, number] => [line.replace(/ \S+$/, ""), Number(line.split(" ").at(-1))]),
    );
  };
  const before = await read();
  const { steps } = await run(origin.serve("/counted.png", { file: PNG }));
  await run(origin.serve("/missing.png", { status: 404 }));
  const after = [...(await read())].map(([name, count]) => [name, count - (before.get(name) ?? 0)]);
  const encoder = steps[2]?.output?.encoder;
  expect(Object.fromEntries(after.filter(([, count]) => count !== 0))).toEqual({
    'framewright_task_seconds_count{kind="image",status="succeeded"}': 1,
    'framewright_task_seconds_count{kind="image",status="failed"}': 1,
    'framewright_step_seconds_count{kind="probe",status="succeeded",encoder=""}': 1,
    'framewright_step_seconds_count{kind="probe",status="failed",encoder=""}': 1,
    'framewright_step_seconds_count{kind="ingest",status="succeeded",encoder=""}': 1,
    [`framewright_step_seconds_count{kind="image",status="succeeded",encoder="${encoder}"}`]: 1,
    'framewright_step_seconds_count{kind="upload",status="succeeded",encoder=""}': 1,
    'framewright_errors_total{object="task",kind="input_not_found"}': 1,
  });
  expect(await read(OTHER_KEY)).toEqual(new Map());
  expect(await fetch(`${service.url}/metrics`)).toMatchObject({ status: 401 });
});

test("outgoing requests reach public addresses only, whatever a name resolves to", async () => {
  // Events of earlier tests may still arrive at the other.
  const alone = await startOrigin();
  const lines: string[] = [];
  const state = await openState(join(dir, "bare"));
  const worker = createHost(workerProgram("outside", state), state, (line) => lines.push(line));
  const place = { data: join(dir, "bare", "data"), registry: registryOf(state), assets: null, media: null };
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
    const { port } = new URL(alone.url);
    const numbers = PRIVATE.map((each) => new URL(each)).filter(({ hostname }) =>
      ipaddr.isValid(hostname.replace(/^\[|\]$/g, "")),
    );
    // The system resolves this name, and the network checks the result.
    const targets = [`http://localhost:${port}/a`, `${alone.url}/a`, ...numbers.map(String)];
    const answerOf = async (target: string) => {
      const answer = await fetch(`${url}/?url=${encodeURIComponent(target)}`);
      return [target, String(await answer.json())];
    };
    // workerd says no more than that; an unreachable host gets another message.
    const refused = expect.stringMatching(/^internal error/);
    expect(await Promise.all(targets.map(answerOf))).toEqual(targets.map((target) => [target, refused]));
    for (const target of ["http://93.184.216.34/", "http://[2606:2800:220:1::1]/"]) {
      expect(await answerOf(target)).not.toEqual([target, refused]);
    }
    expect(alone.log).toEqual([]);
  } finally {
    await worker.end();
    await alone.close();
    state.release();
  }
});
