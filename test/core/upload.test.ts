import { expect, test } from "vitest";
import { parseUploadCompletion, parseUploadRequest, partSizes } from "../../src/runs/upload.ts";

const MIB = 2 ** 20;
const valid = { size: 1, content_type: "video/mp4" };
const fault = (work: () => unknown) => {
  try {
    return work();
  } catch (thrown) {
    const { kind, param, message } = thrown as { kind: string; param: string; message: string };
    return [kind, param, message];
  }
};

test.for<{ name: string; body: unknown; kind: string; param: string | undefined }>([
  { name: "an array for a body", body: [], kind: "request_invalid", param: undefined },
  { name: "an unknown field", body: { ...valid, bytes: 1 }, kind: "request_invalid", param: "bytes" },
  { name: "no size", body: { content_type: "video/mp4" }, kind: "request_invalid", param: "size" },
  { name: "an empty file", body: { ...valid, size: 0 }, kind: "request_invalid", param: "size" },
  { name: "a fraction of a byte", body: { ...valid, size: 1.5 }, kind: "request_invalid", param: "size" },
  { name: "a size as a string", body: { ...valid, size: "1" }, kind: "request_invalid", param: "size" },
  {
    name: "a size beyond safe integers",
    body: { ...valid, size: 2 ** 53 },
    kind: "request_invalid",
    param: "size",
  },
  { name: "no content type", body: { size: 1 }, kind: "request_invalid", param: "content_type" },
  {
    name: "a header line in the content type",
    body: { ...valid, content_type: "a/b\r\nx: y" },
    kind: "request_invalid",
    param: "content_type",
  },
  {
    name: "a name with a folder",
    body: { ...valid, name: "a/b.mp4" },
    kind: "request_invalid",
    param: "name",
  },
  { name: "a name of dots", body: { ...valid, name: ".." }, kind: "request_invalid", param: "name" },
  {
    name: "a name with a line break",
    body: { ...valid, name: "a\nb" },
    kind: "request_invalid",
    param: "name",
  },
  {
    name: "half a surrogate pair in the name",
    body: { ...valid, name: "\ud800" },
    kind: "request_invalid",
    param: "name",
  },
  {
    name: "an HTTPS URL as output",
    body: { ...valid, output: "https://a/b" },
    kind: "invalid_output",
    param: "output",
  },
  {
    name: "a folder as output",
    body: { ...valid, output: "s3://bucket/folder/" },
    kind: "invalid_output",
    param: "output",
  },
  {
    name: "an output with ..",
    body: { ...valid, output: "s3://bucket/a/../b" },
    kind: "invalid_output",
    param: "output",
  },
  {
    name: "a connection but no output",
    body: { ...valid, connection_id: "conn_1" },
    kind: "request_invalid",
    param: "connection_id",
  },
  { name: "zero seconds", body: { ...valid, seconds: 0 }, kind: "request_invalid", param: "seconds" },
  {
    name: "more than a week",
    body: { ...valid, seconds: 604_801 },
    kind: "request_invalid",
    param: "seconds",
  },
])("rejects a request with $name", ({ body, kind, param }) => {
  const [actualKind, at] = fault(() => parseUploadRequest(body)) as string[];
  expect([actualKind, at]).toEqual([kind, param]);
});

test("returns a valid request unchanged", () => {
  const whole = { ...valid, name: "ein Film + ü.mp4", output: "s3://bucket/a b/ü.mp4", seconds: 60 };
  expect(parseUploadRequest({ ...whole, connection_id: "conn_1" })).toEqual({
    ...whole,
    connection_id: "conn_1",
  });
});

test.for<{ name: string; body: unknown }>([
  { name: "no parts", body: { parts: [] } },
  { name: "a duplicate part", body: { parts: [1, 1].map((part) => ({ part, etag: "a" })) } },
  { name: "parts out of order", body: { parts: [2, 1].map((part) => ({ part, etag: "a" })) } },
  { name: "no ETag", body: { parts: [{ part: 1 }] } },
  { name: "the wrong shape", body: { parts: { 1: "a" } } },
])("rejects a list of parts with $name", ({ body }) => {
  expect(fault(() => parseUploadCompletion(body))).toEqual([
    ...["request_invalid", "parts"],
    'parts must be [{"part": 1, "etag": "…"}, …], each part in its turn.',
  ]);
});

test("splits files into parts of 16 MiB, or into a thousand larger ones, up to the largest part allowed", () => {
  expect(partSizes(16 * MIB)).toEqual([16 * MIB]);
  expect(partSizes(33 * MIB)).toEqual([16 * MIB, 16 * MIB, MIB]);
  for (const [size, most, each, count] of [
    [100_000 * MIB, undefined, 100 * MIB, 1000],
    [100_000 * MIB, 32 * MIB, 32 * MIB, 3125],
    [16_000 * MIB + 1, undefined, 17 * MIB, 942],
  ] as const) {
    const sizes = partSizes(size, most);
    expect([sizes[0], sizes.length]).toEqual([each, count]);
    expect(sizes.reduce((sum, part) => sum + part, 0)).toBe(size);
  }
});
