import { expect, test } from "vitest";
import { parseStepRequest } from "../../src/runs/requests.ts";
import { faultOf } from "./fault.ts";

const url = "https://example.com/a.mp4";
const source = {
  object: "source",
  url,
  kind: "video",
  format: "mp4",
  width: 1920,
  height: 1080,
  duration: 10.5,
  codecs: { video: "h264", audio: "aac" },
};
const video = (input: unknown) => ({ kind: "video", input });

test.each(["probe", "ingest"])("a %s step accepts a URL and returns it as an external file", (kind) => {
  const file = { object: "external_file", url };
  const right = { kind, input: file, options: {} };
  expect(parseStepRequest({ kind, input: { url } })).toEqual(right);
  expect(parseStepRequest({ kind, input: file })).toEqual(right);
  expect(parseStepRequest({ kind, input: source, options: {} })).toEqual(right);
  expect(parseStepRequest({ kind, input: { url, more: 1 } })).toEqual(right);
});

test.each(["video", "audio", "image", "adaptive_video"])("a step of kind %s accepts a Source", (kind) => {
  expect(parseStepRequest({ kind, input: source })).toEqual({ kind, input: source, options: {} });
});

test("an upload accepts a Source of four fields", () => {
  const input = { object: "source", url, kind: "image", format: "png" };
  const options = { url: "s3://bucket/a.png", connection_id: "conn_1" };
  expect(parseStepRequest({ kind: "upload", input, options })).toEqual({ kind: "upload", input, options });
});

test("drops unknown fields of a Source, and reads a missing codec as null", () => {
  const input = { ...source, codecs: { video: "h264" }, later: { addition: 1 } };
  expect(parseStepRequest(video(input)).input).toEqual({ ...source, codecs: { video: "h264", audio: null } });
});

test.each([
  { name: "a body that is a number", body: 5, fault: ["request_invalid"] },
  {
    name: "an unknown field",
    body: { ...video(source), output: "s3://b/k" },
    fault: ["request_invalid", "output"],
  },
  { name: "metadata", body: { ...video(source), metadata: {} }, fault: ["request_invalid", "metadata"] },
  { name: "an empty body", body: {}, fault: ["request_invalid", "kind"] },
  { name: "a null kind", body: { kind: null, input: source }, fault: ["request_invalid", "kind"] },
  {
    name: "a kind of the wrong type",
    body: { kind: ["probe"], input: source },
    fault: ["request_invalid", "kind"],
  },
  { name: "an unknown kind", body: { kind: "encode", input: source }, fault: ["invalid_kind", "kind"] },
  { name: "no input", body: { kind: "probe" }, fault: ["input_required", "input"] },
  { name: "a null input", body: { kind: "probe", input: null }, fault: ["input_required", "input"] },
  { name: "a string as input", body: { kind: "probe", input: url }, fault: ["request_invalid", "input"] },
  { name: "an array as input", body: { kind: "probe", input: [url] }, fault: ["request_invalid", "input"] },
  { name: "no URL", body: { kind: "probe", input: {} }, fault: ["input_required", "input.url"] },
  {
    name: "an empty URL",
    body: { kind: "ingest", input: { url: "" } },
    fault: ["input_required", "input.url"],
  },
  {
    name: "a URL of the wrong type",
    body: { kind: "probe", input: { url: 1 } },
    fault: ["request_invalid", "input.url"],
  },
  {
    name: "a bad scheme",
    body: { kind: "probe", input: { url: "ftp://e.org/a" } },
    fault: ["invalid_input", "input.url"],
  },
  {
    name: "an unknown object",
    body: { kind: "probe", input: { url, object: "task" } },
    fault: ["invalid_input", "input.object"],
  },
  {
    name: "an object of the wrong type",
    body: { kind: "probe", input: { url, object: 1 } },
    fault: ["request_invalid", "input.object"],
  },
  {
    name: "options for probe",
    body: { kind: "probe", input: { url }, options: { a: 1 } },
    fault: ["request_invalid", "options.a"],
  },
  {
    name: "options for ingest",
    body: { kind: "ingest", input: { url }, options: { fps: 1 } },
    fault: ["request_invalid", "options.fps"],
  },
])("rejects $name", ({ body, fault }) => {
  expect(faultOf(() => parseStepRequest(body))).toEqual(fault);
});

test.each([
  { field: "object", value: undefined, kind: "invalid_input" },
  { field: "object", value: "external_file", kind: "invalid_input" },
  { field: "kind", value: undefined, kind: "invalid_input" },
  { field: "kind", value: "subtitle", kind: "invalid_input" },
  { field: "kind", value: 1, kind: "invalid_input" },
  { field: "format", value: undefined, kind: "invalid_input" },
  { field: "format", value: 7, kind: "request_invalid" },
  { field: "width", value: "640", kind: "request_invalid" },
  { field: "width", value: 0, kind: "invalid_input" },
  { field: "width", value: -1, kind: "invalid_input" },
  { field: "width", value: 1.5, kind: "invalid_input" },
  { field: "height", value: null, kind: "request_invalid" },
  { field: "height", value: 0, kind: "invalid_input" },
  { field: "duration", value: "10", kind: "request_invalid" },
  { field: "duration", value: -0.1, kind: "invalid_input" },
  { field: "duration", value: 10_000_001, kind: "invalid_input" },
  { field: "duration", value: Number.POSITIVE_INFINITY, kind: "request_invalid" },
  { field: "rotation", value: 45, kind: "invalid_input" },
  { field: "rotation", value: 360, kind: "invalid_input" },
  { field: "filesize", value: -1, kind: "invalid_input" },
  { field: "fps", value: -1, kind: "invalid_input" },
  { field: "codecs", value: "h264", kind: "request_invalid" },
  { field: "streams", value: {}, kind: "request_invalid" },
])("rejects a Source whose $field is $value", ({ field, value, kind }) => {
  expect(faultOf(() => parseStepRequest(video({ ...source, [field]: value })))).toEqual([
    kind,
    `input.${field}`,
  ]);
});

test("reports the path of a nested fault in a Source", () => {
  expect(faultOf(() => parseStepRequest(video({ ...source, codecs: { video: 1 } })))).toEqual([
    "request_invalid",
    "input.codecs.video",
  ]);
  const streams = [
    { index: 0, kind: "video", codec: "h264" },
    { index: 1, kind: "smell", codec: null },
  ];
  expect(faultOf(() => parseStepRequest(video({ ...source, streams })))).toEqual([
    "invalid_input",
    "input.streams.1.kind",
  ]);
});

test.each([
  { name: "no options", options: undefined, fault: ["invalid_options", "options.url"] },
  { name: "no URL", options: { connection_id: "conn_1" }, fault: ["invalid_options", "options.url"] },
  { name: "a URL of the wrong type", options: { url: 1 }, fault: ["request_invalid", "options.url"] },
  {
    name: "a URL that is not S3",
    options: { url: "https://e.org/a" },
    fault: ["invalid_output", "options.url"],
  },
  { name: "a URL without a key", options: { url: "s3://bucket/" }, fault: ["invalid_output", "options.url"] },
  {
    name: "a connection of the wrong type",
    options: { url: "s3://bucket/k", connection_id: 1 },
    fault: ["request_invalid", "options.connection_id"],
  },
  {
    name: "an unknown option",
    options: { url: "s3://bucket/k", acl: "x" },
    fault: ["request_invalid", "options.acl"],
  },
])("rejects an upload with $name", ({ options, fault }) => {
  expect(faultOf(() => parseStepRequest({ kind: "upload", input: source, options }))).toEqual(fault);
});
