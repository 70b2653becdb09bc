import { expect, test } from "vitest";
import type { HostRules } from "../../../src/storage/http/host-guard.ts";
import { createMemoryApi, KEY } from "./memory-api.ts";

async function post(path: string, body: unknown, hosts: HostRules = {}) {
  const headers = { ...KEY, "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await createMemoryApi(hosts).app.request(path, init);
  const answer = (await response.json()) as { kind: string; param?: string };
  return answer.param === undefined
    ? [response.status, answer.kind]
    : [response.status, answer.kind, answer.param];
}

const url = "https://example.com/a.mp4";
const source = { object: "source", url, kind: "video", format: "mp4" };

test.each([
  {
    name: "a task to S3",
    path: "/tasks",
    body: { input: url, kind: "video", output: "s3://bucket/key" },
    answer: [400, "connection_required", "output"],
  },
  {
    name: "a task from S3",
    path: "/tasks",
    body: { input: "s3://bucket/key", kind: "video" },
    answer: [400, "connection_required", "input"],
  },
  {
    name: "a probe of S3",
    path: "/steps",
    body: { kind: "probe", input: { url: "s3://bucket/key" } },
    answer: [400, "connection_required", "input.url"],
  },
  {
    name: "an encode from S3",
    path: "/steps",
    body: { kind: "audio", input: { ...source, url: "s3://bucket/key" } },
    answer: [400, "connection_required", "input.url"],
  },
  {
    name: "an upload",
    path: "/steps",
    body: { kind: "upload", input: source, options: { url: "s3://bucket/key" } },
    answer: [400, "connection_required", "options.connection_id"],
  },
  {
    name: "an upload by an unknown connection",
    path: "/steps",
    body: { kind: "upload", input: source, options: { url: "s3://bucket/key", connection_id: "conn_1" } },
    answer: [404, "connection_not_found", "options.connection_id"],
  },
])("$name needs a connection", async ({ path, body, answer }) => {
  expect(await post(path, body)).toEqual(answer);
});

const wet = (overlay: string, input = url) => ({
  input,
  kind: "video",
  options: { overlay: { url: overlay } },
});

test.each([
  {
    name: "a private address",
    body: wet("http://10.1.2.3/a.png"),
    answer: [400, "invalid_input", "options.overlay.url"],
  },
  {
    name: "a name of this machine",
    body: wet("https://localhost/a.png"),
    answer: [400, "invalid_input", "options.overlay.url"],
  },
  { name: "no URL", body: wet(""), answer: [400, "invalid_options", "options.overlay.url"] },
  {
    name: "another scheme",
    body: wet("file:///etc/passwd"),
    answer: [400, "invalid_options", "options.overlay.url"],
  },
  {
    name: "a private address among several",
    body: { ...wet(url), options: { subtitles: [{ url }, { url: "http://10.1.2.3/a.srt" }] } },
    answer: [400, "invalid_input", "options.subtitles.1.url"],
  },
  {
    name: "S3 without a connection",
    body: wet("s3://bucket/a.png"),
    answer: [400, "connection_required", "options.overlay.url"],
  },
])("an extra input with $name is refused", async ({ body, answer }) => {
  expect(await post("/tasks", body)).toEqual(answer);
  const step = { ...body, input: source };
  expect(await post("/steps", step)).toEqual(answer);
});

test("reports invalid options before a missing connection", async () => {
  const body = { input: "s3://bucket/key", kind: "video", options: { fps: 0 } };
  expect(await post("/tasks", body)).toEqual([400, "invalid_options", "options.fps"]);
});

const HOSTS = [
  "localhost",
  "LOCALHOST.",
  "a.localhost",
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "0.0.0.0",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.1.1",
  "100.64.0.1",
  "169.254.169.254",
  "metadata.google.internal",
  "router.lan",
  "intranet",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[fd00::1]",
  "[fe80::1]",
];

test.each(HOSTS)("rejects an input on %s unless private hosts are allowed", async (host) => {
  const input = `http://${host}:8080/a.mp4`;
  const task = { input, kind: "video" };
  const step = { kind: "probe", input: { url: input } };
  const encode = { kind: "video", input: { ...source, url: input } };
  expect(await post("/tasks", task)).toEqual([400, "invalid_input", "input"]);
  expect(await post("/steps", step)).toEqual([400, "invalid_input", "input.url"]);
  expect(await post("/steps", encode)).toEqual([400, "invalid_input", "input.url"]);
  expect((await post("/tasks", task, { allowPrivate: true }))[0]).toBe(201);
});

test("allows a listed private host and no other", async () => {
  const hosts = { allowed_hosts: ["media.lan:8080"] };
  const task = (host: string) => ({ input: `http://${host}/a.mp4`, kind: "video" });
  expect((await post("/tasks", task("media.lan:8080"), hosts))[0]).toBe(201);
  expect((await post("/tasks", task("media.lan:9090"), hosts))[0]).toBe(400);
  expect((await post("/tasks", task("other.lan:8080"), hosts))[0]).toBe(400);
});

test("a step accepts the service's own signed media at a private address, but not with an altered URL", async () => {
  const { app, signer } = createMemoryApi();
  const run = "task_01kbb1d3x4e8v0t6m9q2y5z7av";
  const own = await signer.sign(`out/${run}/clip.mp4`, Date.now() / 1000 + 60, "http://127.0.0.1:8787");
  const ask = async (url: string) => {
    const headers = { ...KEY, "Content-Type": "application/json" };
    const body = JSON.stringify({ kind: "probe", input: { url } });
    return (await app.request("/steps", { method: "POST", headers, body })).status;
  };
  expect(await ask(own)).toBe(201);
  expect(await ask(own.replace("/out/", "/work/"))).toBe(400);
  expect(await ask(own.replace(/\.\d+\//, ".99999999999/"))).toBe(400);
});
