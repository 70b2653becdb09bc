import { expect, test } from "vitest";
import { parseUploadCompletion, parseUploadRequest, partSizes } from "../../src/core/upload.ts";

const MIB = 2 ** 20;
const right = { size: 1, content_type: "video/mp4" };
const fault = (work: () => unknown) => {
  try {
    return work();
  } catch (thrown) {
    const { kind, param, message } = thrown as { kind: string; param: string; message: string };
    return [kind, param, message];
  }
};

test.for<[string, unknown, string, string | undefined]>([
  ["no object", [], "request_invalid", undefined],
  ["an unknown field", { ...right, bytes: 1 }, "request_invalid", "bytes"],
  ["no size", { content_type: "video/mp4" }, "request_invalid", "size"],
  ["an empty file", { ...right, size: 0 }, "request_invalid", "size"],
  ["a fraction of a byte", { ...right, size: 1.5 }, "request_invalid", "size"],
  ["a size as text", { ...right, size: "1" }, "request_invalid", "size"],
  ["more bytes than a number can tell", { ...right, size: 2 ** 53 }, "request_invalid", "size"],
  ["no type", { size: 1 }, "request_invalid", "content_type"],
  [
    "a type with a line of a header",
    { ...right, content_type: "a/b\r\nx: y" },
    "request_invalid",
    "content_type",
  ],
  ["a name with a folder", { ...right, name: "a/b.mp4" }, "request_invalid", "name"],
  ["a name of dots", { ...right, name: ".." }, "request_invalid", "name"],
  ["a name with a line break", { ...right, name: "a\nb" }, "request_invalid", "name"],
  ["half a character", { ...right, name: "\ud800" }, "request_invalid", "name"],
  ["no bucket", { ...right, output: "https://a/b" }, "invalid_output", "output"],
  ["a folder", { ...right, output: "s3://bucket/folder/" }, "invalid_output", "output"],
  ["a way out of a folder", { ...right, output: "s3://bucket/a/../b" }, "invalid_output", "output"],
  ["a connection for nothing", { ...right, connection_id: "conn_1" }, "request_invalid", "connection_id"],
  ["no time at all", { ...right, seconds: 0 }, "request_invalid", "seconds"],
  ["more than a week", { ...right, seconds: 604_801 }, "request_invalid", "seconds"],
])("a request with %s is refused", ([, body, kind, param]) => {
  const [found, at] = fault(() => parseUploadRequest(body)) as string[];
  expect([found, at]).toEqual([kind, param]);
});

test("a request that is right is taken as it is", () => {
  const whole = { ...right, name: "ein Film + ü.mp4", output: "s3://bucket/a b/ü.mp4", seconds: 60 };
  expect(parseUploadRequest({ ...whole, connection_id: "conn_1" })).toEqual({
    ...whole,
    connection_id: "conn_1",
  });
});

test.for<[string, unknown]>([
  ["nothing in it", { parts: [] }],
  ["a part twice", { parts: [1, 1].map((part) => ({ part, etag: "a" })) }],
  ["a part out of its turn", { parts: [2, 1].map((part) => ({ part, etag: "a" })) }],
  ["no ETag", { parts: [{ part: 1 }] }],
  ["another shape", { parts: { 1: "a" } }],
])("a list of parts with %s is refused", ([, body]) => {
  expect(fault(() => parseUploadCompletion(body))).toEqual([
    ...["request_invalid", "parts"],
    'parts must be [{"part": 1, "etag": "…"}, …], each part in its turn.',
  ]);
});

test("files go in parts of 16 MiB, longer ones in no more than a thousand, unless parts may not be that large", () => {
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
