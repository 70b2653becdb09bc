import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startService } from "./service.ts";

const LIMIT = 256 * 1024;
const valid = JSON.stringify({ kind: "probe", input: { url: "http://127.0.0.1:9/a.mp4" } });

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService("key");
});
afterAll(() => service?.close());

const headers = { Authorization: "Bearer key", "Content-Type": "application/json" };

/** Posts chunks as they are, with or without a Content-Length. */
function post(chunks: (string | Uint8Array)[], more: Record<string, string> = {}) {
  return new Promise<[number | undefined, string]>((resolve, reject) => {
    const sent = request(`${service.base}/steps`, { method: "POST", headers: { ...headers, ...more } });
    sent.on("response", (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () => resolve([response.statusCode, JSON.parse(text).kind]));
    });
    sent.on("error", reject);
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}

test("accepts a valid body with a length, and in chunks without one", async () => {
  expect(await post([valid], { "Content-Length": String(valid.length) })).toEqual([201, "probe"]);
  expect(await post([...valid])).toEqual([201, "probe"]);
});

test("accepts 256 KB and not a byte more, with or without a declared length", async () => {
  const largest = valid + " ".repeat(LIMIT - valid.length);
  expect(await post([largest], { "Content-Length": String(LIMIT) })).toEqual([201, "probe"]);
  expect(await post([largest])).toEqual([201, "probe"]);
  expect(await post([`${largest} `], { "Content-Length": String(LIMIT + 1) })).toEqual([
    413,
    "payload_too_large",
  ]);
  expect(await post([largest, " "])).toEqual([413, "payload_too_large"]);
});

test("rejects a far too large body once it has all arrived", async () => {
  const megabyte = Buffer.alloc(1024 * 1024, " ");
  expect(await post(Array(5).fill(megabyte))).toEqual([413, "payload_too_large"]);
  const length = String(20 * megabyte.length);
  expect(await post(Array(20).fill(megabyte), { "Content-Length": length })).toEqual([
    413,
    "payload_too_large",
  ]);
});

test("cuts off an endless body and continues serving", async () => {
  let written = 0;
  await new Promise<void>((resolve) => {
    const sent = request(`${service.base}/steps`, { method: "POST", headers });
    let over = false;
    const end = () => {
      over = true;
      sent.destroy();
      resolve();
    };
    sent.on("response", end);
    sent.on("error", end);
    const more = () => {
      while (!over && sent.write(Buffer.alloc(65_536, " "))) written += 65_536;
      if (!over) sent.once("drain", more);
    };
    more();
  });
  expect(written).toBeLessThan(64 * 1024 * 1024);
  expect(await post([valid])).toEqual([201, "probe"]);
});

test.each([
  { name: "nothing", chunks: [] },
  { name: "half an object", chunks: [valid.slice(0, 30)] },
  {
    name: "bytes that are not UTF-8",
    chunks: [valid.slice(0, 30), new Uint8Array([0xc3, 0x28]), valid.slice(30)],
  },
  { name: "100,000 levels of nesting", chunks: ["[".repeat(100_000), "]".repeat(100_000)] },
  { name: "gzip data", chunks: [new Uint8Array([0x1f, 0x8b, 8, 0])] },
])("rejects $name", async ({ chunks }) => {
  expect(await post(chunks)).toEqual([400, "request_invalid"]);
});

test("HEAD answers as GET without a body, errors included", async () => {
  for (const [path, status] of [
    ["/health", 200],
    ["/tasks", 401],
    ["/docs", 200],
    ["/docs/none", 404],
  ] as const) {
    const response = await fetch(service.base + path, { method: "HEAD" });
    expect([path, response.status, await response.text()]).toEqual([path, status, ""]);
    expect(response.headers.get("Request-Id")).toMatch(/^req_/);
  }
});

test("serves the documentation's files with their types, and nothing else in their folder", async () => {
  for (const [name, type] of Object.entries({
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "start.js": "text/javascript",
    "favicon-32x32.png": "image/png",
  })) {
    const response = await fetch(`${service.base}/docs/${name}`);
    expect([name, response.status]).toEqual([name, 200]);
    expect(response.headers.get("Content-Type")).toContain(type);
    expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
    await response.arrayBuffer();
  }
  for (const name of ["LICENSE", "index.html", "..%2fwrangler.toml", "%2e%2e/start.js"]) {
    const headers = { Authorization: "Bearer key" };
    expect((await fetch(`${service.base}/docs/${name}`, { headers })).status).toBe(404);
  }
});
