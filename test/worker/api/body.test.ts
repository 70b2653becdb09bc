import { expect, test } from "vitest";
import { createMemoryApi, KEY } from "./memory-api.ts";

const { app, tasks } = createMemoryApi();
const valid = JSON.stringify({ input: "https://example.com/a.mp4", kind: "video" });
const LIMIT = 256 * 1024;

async function post(body: BodyInit | null, type: string | null = "application/json", path = "/tasks") {
  const headers: Record<string, string> = type === null ? KEY : { ...KEY, "Content-Type": type };
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  const response = await app.request(path, init);
  const { kind, param } = (await response.json()) as { kind: string; param?: string };
  return param === undefined ? [response.status, kind] : [response.status, kind, param];
}

function stream(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks)
        controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      controller.close();
    },
  });
}

// A valid body of exactly `length` bytes.
const padded = (length: number) => valid + " ".repeat(length - valid.length);
const nested = (levels: number) => {
  const metadata = "[".repeat(levels - 2) + "]".repeat(levels - 2);
  return `{"input":"https://example.com/a.mp4","kind":"video","metadata":{"a":${metadata}}}`;
};

test.each([
  { name: "nothing at all", body: null },
  { name: "an empty string", body: "" },
  { name: "whitespace", body: " \n " },
  { name: "half an object", body: '{"input":' },
  { name: "single quotes", body: "{'input':'https://e.org/a'}" },
  { name: "a trailing comma", body: `${valid.slice(0, -1)},}` },
  { name: "NaN", body: '{"input":NaN}' },
  { name: "two objects", body: valid + valid },
  { name: "XML", body: "<task/>" },
  { name: "a form", body: "input=https%3A%2F%2Fe.org%2Fa&kind=video" },
  { name: "a string", body: '"https://example.com/a.mp4"' },
  { name: "a number", body: "5" },
  { name: "null", body: "null" },
  { name: "true", body: "true" },
  { name: "an array", body: `[${valid}]` },
  { name: "an empty array", body: "[]" },
])("rejects a body of $name", async ({ body }) => {
  expect(await post(body)).toEqual([400, "request_invalid"]);
  expect(await post(body, "application/json", "/steps")).toEqual([400, "request_invalid"]);
});

test("rejects bytes that are not UTF-8", async () => {
  const bytes = new TextEncoder().encode(valid);
  bytes[12] = 0xff;
  expect(await post(bytes)).toEqual([400, "request_invalid"]);
  expect(await post(new Uint8Array([0xfe, 0xff, 0, 0x7b, 0, 0x7d]))).toEqual([400, "request_invalid"]);
  expect(await post(stream(valid.slice(0, 20), new Uint8Array([0xc3]), valid.slice(20)))).toEqual([
    400,
    "request_invalid",
  ]);
});

test.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/octet-stream",
  "application/jsonp",
  "text/json",
  "application/json; charset=utf-16",
  "application/json; charset=iso-8859-1",
  "json",
  "",
])("rejects the content type %j", async (type) => {
  expect(await post(valid, type)).toEqual([400, "request_invalid"]);
});

test("rejects a body without a content type", async () => {
  expect(await post(stream(valid), null)).toEqual([400, "request_invalid"]);
});

test.each([
  "application/json",
  "Application/JSON",
  "application/json;charset=UTF-8",
  'application/json; charset="utf-8"',
])("accepts the content type %j", async (type) => {
  expect(await post(valid, type)).toEqual([201, "video"]);
});

test("accepts a byte order mark and a character split across chunks", async () => {
  expect(await post(`\u{feff}${valid}`)).toEqual([201, "video"]);
  const [before, after] = [valid.replace("a.mp4", ""), new TextEncoder().encode("ä")];
  const [head, tail] = [before.slice(0, 30), before.slice(30)];
  expect(await post(stream(head, after.slice(0, 1), after.slice(1), tail))).toEqual([201, "video"]);
});

test("accepts 256 KB and not a byte more, with or without a declared length", async () => {
  expect(await post(padded(LIMIT))).toEqual([201, "video"]);
  expect(await post(stream(padded(LIMIT)))).toEqual([201, "video"]);
  expect(await post(padded(LIMIT + 1))).toEqual([413, "payload_too_large"]);
  expect(await post(stream(padded(LIMIT), " "))).toEqual([413, "payload_too_large"]);
});

test("stops reading a body that never ends", async () => {
  let read = 0;
  let stopped = false;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      read += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(0x20));
    },
    cancel() {
      stopped = true;
    },
  });
  expect(await post(endless)).toEqual([413, "payload_too_large"]);
  expect(stopped).toBe(true);
  expect(read).toBeLessThanOrEqual(9 * 1024 * 1024);
});

test("accepts 32 levels of nesting and not one more", async () => {
  expect(await post(nested(32))).toEqual([201, "video"]);
  expect(await post(nested(33))).toEqual([400, "request_invalid"]);
  expect(await post(`{"input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)).toEqual([
    400,
    "request_invalid",
  ]);
  expect(await post(`{"a":`.repeat(40_000))).toEqual([400, "request_invalid"]);
});

test("creates nothing for a rejected body", async () => {
  const { app, tasks } = createMemoryApi();
  const headers = { ...KEY, "Content-Type": "application/json" };
  await app.request("/tasks", { method: "POST", headers, body: '{"kind":"video"}' });
  expect((await tasks.list("mine", { limit: 100, order: "asc" })).records).toEqual([]);
});

test("queues the accepted bodies as tasks", async () => {
  const { records } = await tasks.list("mine", { limit: 100, order: "asc" });
  expect(records.length).toBeGreaterThan(5);
  expect(new Set(records.map((task) => task.status))).toEqual(new Set(["queued"]));
});
