import { afterAll, beforeAll, expect, test } from "vitest";
import type { Connection } from "../../../src/runs/connection.ts";
import { createLookUp } from "../../../worker/local/host-bindings.ts";
import { createDnsOverHttps } from "../../../worker/network/outside.ts";
import { type NameServer, startNameServer } from "../../fixtures/dns.ts";
import { type HttpsResolver, startHttpsResolver } from "../../fixtures/dns-over-https.ts";
import { PRIVATE } from "../../storage/private-hosts.ts";
import { createMemoryApi, KEY } from "../api/memory-api.ts";

// Addresses that the owner of a name may set.
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "good.example.com": ["93.184.216.34", "2606:2800:220:1::1"],
  "my-bucket.good.example.com": ["127.0.0.1"],
  "loopback.example.com": ["127.0.0.1"],
  "loopback6.example.com": ["::1"],
  "any.example.com": ["0.0.0.0"],
  "private.example.com": ["10.1.2.3"],
  "office.example.com": ["192.168.0.10"],
  "cluster.example.com": ["172.16.5.4"],
  "shared.example.com": ["100.64.0.1"],
  "metadata.example.com": ["169.254.169.254"],
  "azure.example.com": ["168.63.129.16"],
  "metadata6.example.com": ["fd00:ec2::254"],
  "link.example.com": ["fe80::1"],
  "mapped.example.com": ["::ffff:127.0.0.1"],
  "nat64.example.com": ["64:ff9b::a9fe:a9fe"],
  "6to4.example.com": ["2002:7f00:1::1"],
  "multicast.example.com": ["224.0.0.1"],
  "mixed.example.com": ["93.184.216.34", "127.0.0.1"],
  "mixed6.example.com": ["93.184.216.34", "::1"],
  // The name server of this host answers for one type of address only.
  "withheld.example.com": ["10.0.0.7"],
  "withheld6.example.com": ["::1"],
};
const PRIVATE_NAMES = Object.keys(NAMES).filter((name) => name !== "good.example.com");

const WITHHELD: Readonly<Record<string, readonly string[]>> = {
  broken: ["A", "AAAA"],
  withheld: ["AAAA"],
  withheld6: ["A"],
};

// Redirects every request to a private host.
const requests: { host: string; redirect: string | undefined }[] = [];
const network = {
  async fetch(url: string, init?: RequestInit) {
    requests.push({ host: new URL(url).host, redirect: init?.redirect });
    return new Response(null, { status: 307, headers: { Location: "http://127.0.0.1/" } });
  },
};

let names: NameServer;
let resolver: HttpsResolver;
let api: ReturnType<typeof createMemoryApi>;
let overHttps: ReturnType<typeof createMemoryApi>;

beforeAll(async () => {
  names = await startNameServer((name, before) => {
    if (name.startsWith("moving-")) return [before === 0 ? "93.184.216.34" : "127.0.0.1"];
    return NAMES[name] ?? [];
  });
  api = createMemoryApi({}, { network, lookUp: createLookUp([names.address]) });
  resolver = await startHttpsResolver((name, type) => {
    const withheld = WITHHELD[name.split(".")[0] ?? ""] ?? [];
    return withheld.includes(type) ? null : (NAMES[name] ?? []);
  });
  overHttps = createMemoryApi({}, { network, lookUp: createDnsOverHttps(resolver.url) });
});
afterAll(() => {
  names.close();
  resolver.close();
});

async function ask<Answer extends object>(method: string, path: string, body: unknown, { app } = api) {
  const headers = { ...KEY, "Content-Type": "application/json" };
  const response = await app.request(path, { method, headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as Answer;
  return { status: response.status, answer };
}

const CONNECTION = {
  name: "Mine",
  kind: "s3",
  region: "auto",
  access_key_id: "AKID",
  secret_access_key: "hush-hush",
  signing: [{ bucket: "my-bucket", methods: ["GET"] }],
} as const;

const PUBLIC = "https://good.example.com/a.mp4";
interface HostRequest {
  method: "POST";
  path: string;
  body: object;
  /** The error for a private host. */
  kind: "invalid_input" | "request_invalid";
  param: string;
}

const post = (
  path: string,
  body: object,
  param: string,
  kind: HostRequest["kind"] = "invalid_input",
): HostRequest => ({ method: "POST", path, body, kind, param });
const extraInput = (options: object, param: string) =>
  post("/tasks", { input: PUBLIC, kind: "video", options }, param);

// Every place where a caller names a host.
const ENTRY_POINTS: Readonly<Record<string, (url: string) => HostRequest>> = {
  task: (url) => post("/tasks", { input: url, kind: "image" }, "input"),
  probe: (url) => post("/steps", { kind: "probe", input: { url } }, "input.url"),
  encode: (url) => {
    const input = { object: "source", url, kind: "video", format: "mp4" };
    return post("/steps", { kind: "video", input }, "input.url");
  },
  overlay: (url) => extraInput({ overlay: { url } }, "options.overlay.url"),
  concat: (url) => extraInput({ concat: [{ url: PUBLIC }, { url }] }, "options.concat.1.url"),
  subtitles: (url) => extraInput({ subtitles: [{ url, language: "en" }] }, "options.subtitles.0.url"),
  job: (url) => post("/jobs", { input: url, outputs: [{ kind: "image" }] }, "input"),
  "output of a job": (url) => {
    const outputs = [{ kind: "audio" }, { kind: "video", options: { overlay: { url } } }];
    return post("/jobs", { input: PUBLIC, outputs }, "outputs.1.options.overlay.url");
  },
  webhook: (url) => {
    const body = { input: "https://good.example.com/a", kind: "image", webhook_url: url };
    return post("/tasks", body, "webhook_url", "request_invalid");
  },
  endpoint: (url) => post("/webhooks/endpoints", { url }, "url", "request_invalid"),
  connection: (url) => {
    const endpoint = new URL(url).origin;
    return post("/connections", { ...CONNECTION, endpoint }, "endpoint", "request_invalid");
  },
};

test.for(Object.entries(ENTRY_POINTS))("%s rejects every form of a private host", async ([, entryPoint]) => {
  for (const url of [...PRIVATE, ...PRIVATE_NAMES.map((name) => `https://${name}/a.mp4`)]) {
    const { method, path, body, kind, param } = entryPoint(url);
    const { status, answer } = await ask(method, path, body);
    expect({ url, status, ...answer }).toMatchObject({ url, status: 400, kind, param });
  }
  const { method, path, body } = entryPoint("https://good.example.com/a.mp4");
  expect(await ask(method, path, body)).toMatchObject({ status: 201 });
});

test.for(Object.entries(ENTRY_POINTS))(
  "%s rejects private names by DNS over HTTPS",
  async ([, entryPoint]) => {
    for (const name of PRIVATE_NAMES) {
      const url = `https://${name}/a.mp4`;
      const { method, path, body, kind, param } = entryPoint(url);
      const { status, answer } = await ask(method, path, body, overHttps);
      expect({ url, status, ...answer }).toMatchObject({ url, status: 400, kind, param });
    }
    // A resolver that fails says nothing about a name; Cloudflare's network refuses private addresses itself.
    for (const name of ["good.example.com", "unknown.example.com", "broken.example.com"]) {
      const { method, path, body } = entryPoint(`https://${name}/a.mp4`);
      expect(await ask(method, path, body, overHttps)).toMatchObject({ status: 201 });
    }
  },
);

test("DNS over HTTPS asks once for both families, and again after 30 seconds or a failure", async () => {
  let now = 0;
  const lookUp = createDnsOverHttps(resolver.url, () => now);
  const lookUpAndCount = async (name: string) => {
    resolver.queries.length = 0;
    const addresses = await lookUp(name).catch(() => "failed");
    return { addresses, queries: [...resolver.queries].sort() };
  };
  const addresses = NAMES["good.example.com"];
  const both = ["A good.example.com", "AAAA good.example.com"];
  expect(await lookUpAndCount("good.example.com")).toEqual({ addresses, queries: both });
  now = 29_999;
  expect(await lookUpAndCount("good.example.com")).toEqual({ addresses, queries: [] });
  now = 30_000;
  expect(await lookUpAndCount("good.example.com")).toEqual({ addresses, queries: both });
  const broken = ["A broken.example.com", "AAAA broken.example.com"];
  for (const _ of [1, 2]) {
    expect(await lookUpAndCount("broken.example.com")).toEqual({ addresses: "failed", queries: broken });
  }
});

test("a connection cannot move to a private host, nor be used once its host has become private", async () => {
  // A new name each time, in case the test is retried.
  const endpoint = `https://moving-${Date.now()}.example.com`;
  const { answer } = await ask<Connection>("POST", "/connections", { ...CONNECTION, endpoint });
  const path = `/connections/${answer.id}`;
  const change = { endpoint: "https://mixed.example.com" };
  const fault = { status: 400, answer: { kind: "request_invalid", param: "endpoint" } };
  expect(await ask("PATCH", path, change)).toMatchObject(fault);
  const result = await ask("POST", `${path}/test`, { bucket: "my-bucket" });
  expect(result).toMatchObject({ status: 200, answer: { ok: false, error: { kind: "input_forbidden" } } });
  const signing = { method: "GET", bucket: "my-bucket", key: "k" };
  expect(await ask("POST", `${path}/sign`, signing)).toMatchObject(fault);
});

test("accepts a host that does not resolve", async () => {
  const body = { input: "https://unknown.example.com/a.mp4", kind: "image" };
  expect(await ask("POST", "/tasks", body)).toMatchObject({ status: 201 });
});

test("follows no redirect from storage", async () => {
  const endpoint = "https://good.example.com";
  const { answer } = await ask<Connection>("POST", "/connections", { ...CONNECTION, endpoint });
  requests.length = 0;
  const result = await ask("POST", `/connections/${answer.id}/test`, { bucket: "my-bucket" });
  expect(result).toMatchObject({ status: 200, answer: { ok: false } });
  expect(requests).not.toEqual([]);
  for (const each of requests) expect(each).toEqual({ host: "good.example.com", redirect: "manual" });
});

test("rejects a private bucket host without contacting it", async () => {
  const connection = { ...CONNECTION, endpoint: "https://good.example.com", force_path_style: false };
  const { answer } = await ask<Connection>("POST", "/connections", connection);
  requests.length = 0;
  const result = await ask("POST", `/connections/${answer.id}/test`, { bucket: "my-bucket" });
  const message = expect.stringContaining("my-bucket.good.example.com has an address that is not public");
  expect(result.answer).toMatchObject({ ok: false, error: { kind: "input_forbidden", message } });
  expect(requests).toEqual([]);
});

test("resolves names through the system where no name servers are set", async () => {
  const lookUp = createLookUp(null);
  expect(await lookUp("localhost")).toContain("127.0.0.1");
  expect(await lookUp("no-such-name.invalid")).toEqual([]);
});
