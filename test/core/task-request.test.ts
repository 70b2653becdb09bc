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
  { name: "a string", body: "text", fault: ["request_invalid"] },
  { name: "null", body: null, fault: ["request_invalid"] },
  { name: "an array", body: [right], fault: ["request_invalid"] },
  { name: "an unknown field", body: { ...right, inputs: 1 }, fault: ["request_invalid", "inputs"] },
  {
    name: "a field named like one of the prototype",
    body: { ...right, constructor: 1 },
    fault: ["request_invalid", "constructor"],
  },
  {
    name: "__proto__",
    body: JSON.parse('{"input":"https://e.org/a","kind":"video","__proto__":1}'),
    fault: ["request_invalid", "__proto__"],
  },
  { name: "empty", body: {}, fault: ["input_required", "input"] },
])("rejects a body: $name", ({ body, fault }) => {
  expect(faultOf(() => parseTaskRequest(body))).toEqual(fault);
});

test.each([
  { name: "that is missing", input: undefined, fault: ["input_required", "input"] },
  { name: "that is null", input: null, fault: ["input_required", "input"] },
  { name: "that is empty", input: "", fault: ["input_required", "input"] },
  { name: "that is a number", input: 5, fault: ["request_invalid", "input"] },
  { name: "that is an object", input: { url: "https://e.org/a" }, fault: ["request_invalid", "input"] },
  { name: "that is no URL", input: "clip.mp4", fault: ["invalid_input", "input"] },
  { name: "without a scheme", input: "//example.com/a", fault: ["invalid_input", "input"] },
  { name: "without slashes", input: "https:example.com/a", fault: ["invalid_input", "input"] },
  { name: "of scheme ftp", input: "ftp://example.com/a", fault: ["invalid_input", "input"] },
  { name: "of scheme file", input: "file:///etc/passwd", fault: ["invalid_input", "input"] },
  { name: "of scheme data", input: "data:video/mp4;base64,AAAA", fault: ["invalid_input", "input"] },
  { name: "of scheme javascript", input: "javascript://x/%0aalert(1)", fault: ["invalid_input", "input"] },
  { name: "without a host", input: "http://", fault: ["invalid_input", "input"] },
  { name: "with a bad port", input: "http://example.com:99999/a", fault: ["invalid_input", "input"] },
  { name: "with a user name", input: "https://me@example.com/a", fault: ["invalid_input", "input"] },
  { name: "with a password", input: "https://me:secret@example.com/a", fault: ["invalid_input", "input"] },
  { name: "with a line break", input: "https://example.com/a\n.mp4", fault: ["invalid_input", "input"] },
  { name: "with a tab", input: "https://exa\tmple.com/a", fault: ["invalid_input", "input"] },
  { name: "with NUL", input: "https://example.com/\0", fault: ["invalid_input", "input"] },
  { name: "with a leading space", input: " https://example.com/a", fault: ["invalid_input", "input"] },
  { name: "that is too long", input: long(8193), fault: ["invalid_input", "input"] },
  { name: "of S3 without a key", input: "s3://bucket", fault: ["invalid_input", "input"] },
  { name: "of S3 with .. in its key", input: "s3://bucket/a/../b.mp4", fault: ["invalid_input", "input"] },
  { name: "of S3 with . in its key", input: "s3://bucket/./b.mp4", fault: ["invalid_input", "input"] },
  {
    name: "of S3 with a key that is too long",
    input: `s3://bucket/${"ü".repeat(513)}`,
    fault: ["invalid_input", "input"],
  },
  { name: "of S3 with an empty key", input: "s3://bucket/", fault: ["invalid_input", "input"] },
  { name: "of S3 with a bad bucket", input: "s3://Bu_cket/key", fault: ["invalid_input", "input"] },
  { name: "of S3 with a two-letter bucket", input: "s3://ab/key", fault: ["invalid_input", "input"] },
])("rejects an input $name", ({ input, fault }) => {
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
  { name: "missing", kind: undefined, fault: ["request_invalid", "kind"] },
  { name: "null", kind: null, fault: ["request_invalid", "kind"] },
  { name: "a number", kind: 1, fault: ["request_invalid", "kind"] },
  { name: "unknown", kind: "movie", fault: ["invalid_kind", "kind"] },
  { name: "in capitals", kind: "Video", fault: ["invalid_kind", "kind"] },
  { name: "empty", kind: "", fault: ["invalid_kind", "kind"] },
  { name: "for steps only", kind: "probe", fault: ["invalid_kind", "kind"] },
  { name: "the name of a prototype's method", kind: "toString", fault: ["invalid_kind", "kind"] },
])("rejects a kind: $name", ({ kind, fault }) => {
  expect(faultOf(() => parseTaskRequest({ ...right, kind }))).toEqual(fault);
});

test.each([
  { name: "a number", output: 5, fault: ["request_invalid", "output"] },
  { name: "empty", output: "", fault: ["invalid_output", "output"] },
  { name: "an HTTPS URL", output: "https://example.com/a", fault: ["invalid_output", "output"] },
  { name: "without a key", output: "s3://bucket", fault: ["invalid_output", "output"] },
  { name: "with an empty key", output: "s3://bucket/", fault: ["invalid_output", "output"] },
  { name: "with a bad bucket", output: "s3://-bucket/key", fault: ["invalid_output", "output"] },
  {
    name: "with a bucket of 64 letters",
    output: `s3://${"b".repeat(64)}/key`,
    fault: ["invalid_output", "output"],
  },
  { name: "with a line break", output: "s3://bucket/a\nb", fault: ["invalid_output", "output"] },
  { name: "too long", output: `s3://bucket/${"k".repeat(8181)}`, fault: ["invalid_output", "output"] },
])("rejects an output: $name", ({ output, fault }) => {
  expect(faultOf(() => parseTaskRequest({ ...right, output }))).toEqual(fault);
});

test.each([
  { name: "a string", metadata: "x", fault: ["request_invalid", "metadata"] },
  { name: "an array", metadata: [], fault: ["request_invalid", "metadata"] },
  { name: "a number", metadata: 0, fault: ["request_invalid", "metadata"] },
  { name: "too large", metadata: { a: "x".repeat(16_384 - 7) }, fault: ["request_invalid", "metadata"] },
  {
    name: "too large only in bytes",
    metadata: { a: "é".repeat(8_189) },
    fault: ["request_invalid", "metadata"],
  },
])("rejects metadata: $name", ({ metadata, fault }) => {
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
      // The rest of a message lists the names that are allowed.
      expect(/x{10,}/.exec(message)?.[0].length).toBeLessThan(100);
      expect(param?.length).toBeLessThan(100);
    }
  }
});
