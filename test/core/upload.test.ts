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

test.for<[string, unknown, string, string | undefined]>([
  ["an array for a body", [], "request_invalid", undefined],
  ["an unknown field", { ...valid, bytes: 1 }, "request_invalid", "bytes"],
  ["no size", { content_type: "video/mp4" }, "request_invalid", "size"],
  ["an empty file", { ...valid, size: 0 }, "request_invalid", "size"],
  ["a fraction of a byte", { ...valid, size: 1.5 }, "request_invalid", "size"],
  ["a size as a string", { ...valid, size: "1" }, "request_invalid", "size"],
  ["a size beyond safe integers", { ...valid, size: 2 ** 53 }, "request_invalid", "size"],
  ["no content type", { size: 1 }, "request_invalid", "content_type"],
  [
    "a header line in the content type",
    { ...valid, content_type: "a/b\r\nx: y" },
    "request_invalid",
    "content_type",
  ],
  ["a name with a folder", { ...valid, name: "a/b.mp4" }, "request_invalid", "name"],
  ["a name of dots", { ...valid, name: ".." }, "request_invalid", "name"],
  ["a name with a line break", { ...valid, name: "a\nb" }, "request_invalid", "name"],
  ["half a surrogate pair in the name", { ...valid, name: "\ud800" }, "request_invalid", "name"],
  ["an HTTPS URL as output", { ...valid, output: "https://a/b" }, "invalid_output", "output"],
  ["a folder as output", { ...valid, output: "s3://bucket/folder/" }, "invalid_output", "output"],
  ["an output with ..", { ...valid, output: "s3://bucket/a/../b" }, "invalid_output", "output"],
  ["a connection but no output", { ...valid, connection_id: "conn_1" }, "request_invalid", "connection_id"],
  ["zero seconds", { ...valid, seconds: 0 }, "request_invalid", "seconds"],
  ["more than a week", { ...valid, seconds: 604_801 }, "request_invalid", "seconds"],
])("rejects a request with %s", ([, body, kind, param]) => {
  const [found, at] = fault(() => parseUploadRequest(body)) as string[];
  expect([found, at]).toEqual([kind, param]);
});

test("returns a valid request unchanged", () => {
  const whole = { ...valid, name: "ein Film + ü.mp4", output: "s3://bucket/a b/ü.mp4", seconds: 60 };
  expect(parseUploadRequest({ ...whole, connection_id: "conn_1" })).toEqual({
    ...whole,
    connection_id: "conn_1",
  });
});

test.for<[string, unknown]>([
  ["no parts", { parts: [] }],
  ["a duplicate part", { parts: [1, 1].map((part) => ({ part, etag: "a" })) }],
  ["parts out of order", { parts: [2, 1].map((part) => ({ part, etag: "a" })) }],
  ["no ETag", { parts: [{ part: 1 }] }],
  ["the wrong shape", { parts: { 1: "a" } }],
])("rejects a list of parts with %s", ([, body]) => {
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
