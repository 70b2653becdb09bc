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
  ["a body that is a number", 5, ["request_invalid"]],
  ["an unknown field", { ...video(source), output: "s3://b/k" }, ["request_invalid", "output"]],
  ["metadata", { ...video(source), metadata: {} }, ["request_invalid", "metadata"]],
  ["an empty body", {}, ["request_invalid", "kind"]],
  ["a null kind", { kind: null, input: source }, ["request_invalid", "kind"]],
  ["a kind of the wrong type", { kind: ["probe"], input: source }, ["request_invalid", "kind"]],
  ["an unknown kind", { kind: "encode", input: source }, ["invalid_kind", "kind"]],
  ["no input", { kind: "probe" }, ["input_required", "input"]],
  ["a null input", { kind: "probe", input: null }, ["input_required", "input"]],
  ["a string as input", { kind: "probe", input: url }, ["request_invalid", "input"]],
  ["an array as input", { kind: "probe", input: [url] }, ["request_invalid", "input"]],
  ["no URL", { kind: "probe", input: {} }, ["input_required", "input.url"]],
  ["an empty URL", { kind: "ingest", input: { url: "" } }, ["input_required", "input.url"]],
  ["a URL of the wrong type", { kind: "probe", input: { url: 1 } }, ["request_invalid", "input.url"]],
  ["a bad scheme", { kind: "probe", input: { url: "ftp://e.org/a" } }, ["invalid_input", "input.url"]],
  ["an unknown object", { kind: "probe", input: { url, object: "task" } }, ["invalid_input", "input.object"]],
  [
    "an object of the wrong type",
    { kind: "probe", input: { url, object: 1 } },
    ["request_invalid", "input.object"],
  ],
  [
    "options for probe",
    { kind: "probe", input: { url }, options: { a: 1 } },
    ["request_invalid", "options.a"],
  ],
  [
    "options for ingest",
    { kind: "ingest", input: { url }, options: { fps: 1 } },
    ["request_invalid", "options.fps"],
  ],
])("rejects %s", (_, body, fault) => {
  expect(faultOf(() => parseStepRequest(body))).toEqual(fault);
});

test.each([
  ["object", undefined, "invalid_input"],
  ["object", "external_file", "invalid_input"],
  ["kind", undefined, "invalid_input"],
  ["kind", "subtitle", "invalid_input"],
  ["kind", 1, "invalid_input"],
  ["format", undefined, "invalid_input"],
  ["format", 7, "request_invalid"],
  ["width", "640", "request_invalid"],
  ["width", 0, "invalid_input"],
  ["width", -1, "invalid_input"],
  ["width", 1.5, "invalid_input"],
  ["height", null, "request_invalid"],
  ["height", 0, "invalid_input"],
  ["duration", "10", "request_invalid"],
  ["duration", -0.1, "invalid_input"],
  ["duration", 10_000_001, "invalid_input"],
  ["duration", Number.POSITIVE_INFINITY, "request_invalid"],
  ["rotation", 45, "invalid_input"],
  ["rotation", 360, "invalid_input"],
  ["filesize", -1, "invalid_input"],
  ["fps", -1, "invalid_input"],
  ["codecs", "h264", "request_invalid"],
  ["streams", {}, "request_invalid"],
])("rejects a Source whose %s is %s", (field, value, kind) => {
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
  ["no options", undefined, ["invalid_options", "options.url"]],
  ["no URL", { connection_id: "conn_1" }, ["invalid_options", "options.url"]],
  ["a URL of the wrong type", { url: 1 }, ["request_invalid", "options.url"]],
  ["a URL that is not S3", { url: "https://e.org/a" }, ["invalid_output", "options.url"]],
  ["a URL without a key", { url: "s3://bucket/" }, ["invalid_output", "options.url"]],
  [
    "a connection of the wrong type",
    { url: "s3://bucket/k", connection_id: 1 },
    ["request_invalid", "options.connection_id"],
  ],
  ["an unknown option", { url: "s3://bucket/k", acl: "x" }, ["request_invalid", "options.acl"]],
])("rejects an upload with %s", (_, options, fault) => {
  expect(faultOf(() => parseStepRequest({ kind: "upload", input: source, options }))).toEqual(fault);
});
