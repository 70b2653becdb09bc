import { expect, test } from "vitest";
import { MediaError } from "../../src/media/errors.ts";
import { parseTaskRequest } from "../../src/runs/requests.ts";
import { faultOf } from "./fault.ts";

const right = { input: "https://example.com/a.mp4", kind: "video" };
const long = (length: number) => `https://example.com/${"a".repeat(length - 20)}`;

test("fills in defaults", () => {
  expect(parseTaskRequest(right)).toEqual({ ...right, options: {}, metadata: {} });
});

test("keeps every field of a full request", () => {
  const full = {
    input: "s3://bucket/a key/with spaces.mp4",
    kind: "image",
    options: { format: "webp", width: "50%", height: 20, fit: "cover", position: "top-left", start: 1.5 },
    output: "s3://my.bucket-1/deep/key.webp",
    metadata: { a: 1, nested: { list: [null, true, "x"] } },
  };
  expect(parseTaskRequest(full)).toEqual(full);
});

test("accepts null for optional fields, as a task shows them", () => {
  expect(parseTaskRequest({ ...right, output: null, options: null, metadata: null })).toEqual({
    ...right,
    options: {},
    metadata: {},
  });
});

test.each([
  ["a string", "text", ["request_invalid"]],
  ["null", null, ["request_invalid"]],
  ["an array", [right], ["request_invalid"]],
  ["an unknown field", { ...right, inputs: 1 }, ["request_invalid", "inputs"]],
  [
    "a field named like one of the prototype",
    { ...right, constructor: 1 },
    ["request_invalid", "constructor"],
  ],
  [
    "__proto__",
    JSON.parse('{"input":"https://e.org/a","kind":"video","__proto__":1}'),
    ["request_invalid", "__proto__"],
  ],
  ["empty", {}, ["input_required", "input"]],
])("rejects a body: %s", (_, body, fault) => {
  expect(faultOf(() => parseTaskRequest(body))).toEqual(fault);
});

test.each([
  ["that is missing", undefined, ["input_required", "input"]],
  ["that is null", null, ["input_required", "input"]],
  ["that is empty", "", ["input_required", "input"]],
  ["that is a number", 5, ["request_invalid", "input"]],
  ["that is an object", { url: "https://e.org/a" }, ["request_invalid", "input"]],
  ["that is no URL", "clip.mp4", ["invalid_input", "input"]],
  ["without a scheme", "//example.com/a", ["invalid_input", "input"]],
  ["without slashes", "https:example.com/a", ["invalid_input", "input"]],
  ["of scheme ftp", "ftp://example.com/a", ["invalid_input", "input"]],
  ["of scheme file", "file:///etc/passwd", ["invalid_input", "input"]],
  ["of scheme data", "data:video/mp4;base64,AAAA", ["invalid_input", "input"]],
  ["of scheme javascript", "javascript://x/%0aalert(1)", ["invalid_input", "input"]],
  ["without a host", "http://", ["invalid_input", "input"]],
  ["with a bad port", "http://example.com:99999/a", ["invalid_input", "input"]],
  ["with a user name", "https://me@example.com/a", ["invalid_input", "input"]],
  ["with a password", "https://me:secret@example.com/a", ["invalid_input", "input"]],
  ["with a line break", "https://example.com/a\n.mp4", ["invalid_input", "input"]],
  ["with a tab", "https://exa\tmple.com/a", ["invalid_input", "input"]],
  ["with NUL", "https://example.com/\0", ["invalid_input", "input"]],
  ["with a leading space", " https://example.com/a", ["invalid_input", "input"]],
  ["that is too long", long(8193), ["invalid_input", "input"]],
  ["of S3 without a key", "s3://bucket", ["invalid_input", "input"]],
  ["of S3 with .. in its key", "s3://bucket/a/../b.mp4", ["invalid_input", "input"]],
  ["of S3 with . in its key", "s3://bucket/./b.mp4", ["invalid_input", "input"]],
  ["of S3 with a key that is too long", `s3://bucket/${"ü".repeat(513)}`, ["invalid_input", "input"]],
  ["of S3 with an empty key", "s3://bucket/", ["invalid_input", "input"]],
  ["of S3 with a bad bucket", "s3://Bu_cket/key", ["invalid_input", "input"]],
  ["of S3 with a two-letter bucket", "s3://ab/key", ["invalid_input", "input"]],
])("rejects an input %s", (_, input, fault) => {
  expect(faultOf(() => parseTaskRequest({ ...right, input }))).toEqual(fault);
});

test.each([
  "http://example.com/a",
  "HTTPS://EXAMPLE.COM/a?b=c#d",
  "https://example.com:8443/ä ö.mp4",
  "s3://bucket/key",
  `s3://${"b".repeat(63)}/key`,
  long(8192),
])("accepts the input %.60s", (input) => {
  expect(parseTaskRequest({ ...right, input }).input).toBe(input);
});

test.each([
  ["missing", undefined, ["request_invalid", "kind"]],
  ["null", null, ["request_invalid", "kind"]],
  ["a number", 1, ["request_invalid", "kind"]],
  ["unknown", "movie", ["invalid_kind", "kind"]],
  ["in capitals", "Video", ["invalid_kind", "kind"]],
  ["empty", "", ["invalid_kind", "kind"]],
  ["for steps only", "probe", ["invalid_kind", "kind"]],
  ["the name of a prototype's method", "toString", ["invalid_kind", "kind"]],
])("rejects a kind: %s", (_, kind, fault) => {
  expect(faultOf(() => parseTaskRequest({ ...right, kind }))).toEqual(fault);
});

test.each([
  ["a number", 5, ["request_invalid", "output"]],
  ["empty", "", ["invalid_output", "output"]],
  ["an HTTPS URL", "https://example.com/a", ["invalid_output", "output"]],
  ["without a key", "s3://bucket", ["invalid_output", "output"]],
  ["with an empty key", "s3://bucket/", ["invalid_output", "output"]],
  ["with a bad bucket", "s3://-bucket/key", ["invalid_output", "output"]],
  ["with a bucket of 64 letters", `s3://${"b".repeat(64)}/key`, ["invalid_output", "output"]],
  ["with a line break", "s3://bucket/a\nb", ["invalid_output", "output"]],
  ["too long", `s3://bucket/${"k".repeat(8181)}`, ["invalid_output", "output"]],
])("rejects an output: %s", (_, output, fault) => {
  expect(faultOf(() => parseTaskRequest({ ...right, output }))).toEqual(fault);
});

test.each([
  ["a string", "x", ["request_invalid", "metadata"]],
  ["an array", [], ["request_invalid", "metadata"]],
  ["a number", 0, ["request_invalid", "metadata"]],
  ["too large", { a: "x".repeat(16_384 - 7) }, ["request_invalid", "metadata"]],
  ["too large only in bytes", { a: "é".repeat(8_189) }, ["request_invalid", "metadata"]],
])("rejects metadata: %s", (_, metadata, fault) => {
  expect(faultOf(() => parseTaskRequest({ ...right, metadata }))).toEqual(fault);
});

test("accepts metadata of exactly 16 KB, and keys of any name", () => {
  const metadata = { a: "x".repeat(16_384 - 8) };
  expect(parseTaskRequest({ ...right, metadata }).metadata).toEqual(metadata);
  const odd = { constructor: 1, "": 2, "a.b": 3 };
  expect(parseTaskRequest({ ...right, metadata: odd }).metadata).toEqual(odd);
});

test("keeps metadata off the prototype", () => {
  const { metadata } = parseTaskRequest({
    ...right,
    metadata: JSON.parse('{"__proto__":{"bad":true},"a":1}'),
  });
  expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
  expect("bad" in metadata).toBe(false);
});

test("reports the first fault, in the order unknown field, input, kind, options, metadata, output", () => {
  const all = { input: "x", kind: "x", options: { fps: 0 }, metadata: 1, output: "x", more: 1 };
  const faults: unknown[] = [];
  for (const [field, repaired] of Object.entries({
    more: undefined,
    input: right.input,
    kind: "video",
    options: {},
    metadata: {},
  })) {
    faults.push(faultOf(() => parseTaskRequest(all)));
    if (repaired === undefined) delete (all as Record<string, unknown>)[field];
    else Object.assign(all, { [field]: repaired });
  }
  faults.push(faultOf(() => parseTaskRequest(all)));
  expect(faults).toEqual([
    ["request_invalid", "more"],
    ["invalid_input", "input"],
    ["invalid_kind", "kind"],
    ["invalid_options", "options.fps"],
    ["request_invalid", "metadata"],
    ["invalid_output", "output"],
  ]);
});

test("truncates long names in its messages", () => {
  const name = "x".repeat(10_000);
  for (const body of [
    { ...right, [name]: 1 },
    { ...right, kind: name },
    { ...right, options: { [name]: 1 } },
  ]) {
    try {
      parseTaskRequest(body);
      expect.unreachable();
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(MediaError);
      const { message, param } = thrown as MediaError;
      expect(message.length).toBeLessThan(500);
      expect(param?.length).toBeLessThan(100);
    }
  }
});
