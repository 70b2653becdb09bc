import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import packageJson from "../../../package.json" with { type: "json" };
import { REQUEST_ERROR_KINDS } from "../../../src/media/errors.ts";
import { ENCODE_KINDS, STEP_KINDS } from "../../../src/media/formats.ts";
import { parseConnectionTest, parseSignRequest } from "../../../src/runs/connection.ts";
import { Job } from "../../../src/runs/job.ts";
import { Step } from "../../../src/runs/step.ts";
import { Task } from "../../../src/runs/task.ts";
import { parseUploadCompletion } from "../../../src/runs/upload.ts";
import { parseRotateRequest } from "../../../src/runs/webhook-events.ts";
import { ErrorBody, STATUS, WORK_ERROR_KINDS, WORK_STATUS } from "../../../worker/http/errors.ts";
import { OPERATIONS } from "./document-operations.ts";
import type { Answer, Document, Operation } from "./document-shape.ts";
import { createMemoryApi, KEY } from "./memory-api.ts";

const { app } = createMemoryApi();
let document: Document;
let operations: { path: string; method: string; operation: Operation }[];

beforeAll(async () => {
  document = (await (await app.request("https://api.example/openapi.json")).json()) as Document;
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
});

/** Checks a value against a schema of the document, parsed from its JSON. */
function judge(schema: object, value: unknown): void {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const own = JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/"));
  const result = z.fromJSONSchema(own).safeParse(value);
  expect(result.error?.issues).toBeUndefined();
}

test("the check of examples fails a value that does not match its schema", () => {
  const task = document.paths["/tasks"]?.post?.responses[201]?.content?.["application/json"];
  const right = task?.examples?.queued?.value as object;
  expect(() => judge(task?.schema ?? {}, { ...right, status: "done" })).toThrow();
  expect(() => judge(task?.schema ?? {}, { ...right, steps: [{}] })).toThrow();
});

test("is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate(structuredClone(document) as never);
  expect(result).toEqual({ valid: true });
  expect(document.openapi).toBe("3.1.0");
});

test("states the package's version and the URL it is served from", async () => {
  expect(document.info.version).toBe(packageJson.version);
  expect(document.servers).toEqual([{ url: "https://api.example" }]);
  const based = createMemoryApi({ base_url: "https://public.example/" }).app;
  const answer = await based.request("/openapi.json");
  expect(((await answer.json()) as Document).servers).toEqual([{ url: "https://public.example" }]);
});

// Only the service's own encoders write there.
const INTERNAL = [
  "GET /operator/projects",
  "PUT /media/*",
  "POST /media/*",
  "DELETE /media/*",
  // Called only through the part URLs that an upload returns.
  "PUT /uploads/:id/parts/:part",
];

test("describes exactly the operations that are served, except internal ones", () => {
  const described = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(described.toSorted()).toEqual(OPERATIONS);
  const served = app.routes
    .filter(({ method, path }) => method !== "ALL" && path !== "/docs/:file")
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => !INTERNAL.includes(route))
    .map((route) =>
      route.replace("/media/*", "/media/:grant/:key").replace("/image/*", "/image/:options/:source"),
    );
  expect(served.toSorted()).toEqual(described.map((each) => each.replaceAll(/\{(\w+)\}/g, ":$1")).toSorted());
});

test("every operation has a unique name, a summary and one documented tag", () => {
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  const tags = document.tags.map(({ name }) => name);
  for (const { operation } of operations) {
    expect(operation.summary).toMatch(/^[A-Z][^.]+$/);
    for (const tag of operation.tags) expect(tags).toContain(tag);
    expect(operation.tags).toHaveLength(1);
  }
});

test("documents every path parameter, and gives every parameter a valid example, default or choice", () => {
  for (const { path, operation } of operations) {
    const parameters = operation.parameters ?? [];
    const inPath = parameters.filter((each) => each.in === "path").map(({ name }) => `{${name}}`);
    expect(inPath).toEqual(path.match(/\{\w+\}/g) ?? []);
    for (const { schema, example } of parameters) {
      const sample = example ?? schema.examples?.[0] ?? schema.default ?? schema.enum?.[0];
      expect(sample).toBeDefined();
      judge(schema, sample);
    }
  }
});

test("asks for a key exactly where the document says so", async () => {
  for (const { path, method, operation } of operations) {
    const response = await app.request(path, { method: method.toUpperCase() });
    const required = response.status === 401;
    expect([path, required]).toEqual([path, operation.security.length > 0]);
  }
});

test("every JSON request and response has examples that match its schema", () => {
  let judged = 0;
  for (const { operation } of operations) {
    const bodies = [operation.requestBody, ...Object.values(operation.responses)];
    for (const media of bodies.map((body) => body?.content?.["application/json"])) {
      if (!media || operation.operationId === "getDocument") continue;
      const examples = Object.values(media.examples ?? {});
      expect(examples.length).toBeGreaterThan(0);
      for (const { value } of examples) {
        judge(media.schema, value);
        judged++;
      }
    }
  }
  expect(judged).toBeGreaterThan(80);
});

test("examples of tasks and steps are complete records", () => {
  for (const { operation } of operations) {
    for (const [status, answer] of Object.entries(operation.responses)) {
      if (Number(status) >= 400) continue;
      for (const { value } of Object.values(answer.content?.["application/json"]?.examples ?? {})) {
        for (const record of [value].flat() as { object?: string }[]) {
          if (record.object === "task") expect(Task.parse(record)).toEqual(record);
          if (record.object === "job") expect(Job.parse(record)).toEqual(record);
          if (record.object === "step") expect(Step.parse(record)).toEqual(record);
        }
      }
    }
  }
});

// Sent to the service, these would contact the storage of the example or need its file.
const PARSED = [
  { end: "/test", parse: parseConnectionTest },
  { end: "/rotate", parse: parseRotateRequest },
  { end: "/sign", parse: parseSignRequest },
  { end: "/complete", parse: parseUploadCompletion },
] as const;

// They create nothing.
const ANSWERS: ReadonlySet<string> = new Set(["/images", "/estimates", "/previews"]);

test("accepts every request example, and the examples cover every kind", async () => {
  const kinds: Record<string, string[]> = {};
  let last = { id: "" };
  for (const { method, path, operation } of operations) {
    for (const [name, { value }] of Object.entries(
      operation.requestBody?.content["application/json"]?.examples ?? {},
    )) {
      kinds[path] = [...(kinds[path] ?? []), name];
      const { parse } = PARSED.find(({ end }) => path.endsWith(end)) ?? {};
      if (parse) {
        expect(parse(value)).toMatchObject(value as object);
        continue;
      }
      const headers = { ...KEY, "Content-Type": "application/json" };
      const init = { method: method.toUpperCase(), headers, body: JSON.stringify(value) };
      const response = await app.request(path.replace("{id}", last.id), init);
      // The example's connection does not exist, so its upload finds none.
      const changes = method === "patch" || path.endsWith("/roll") || ANSWERS.has(path);
      const status = name === "upload" ? 404 : changes ? 200 : 201;
      expect([name, response.status]).toEqual([name, status]);
      last = (await response.json()) as typeof last;
    }
  }
  expect(kinds).toEqual({
    "/estimates": ["video", "image"],
    "/previews": ["frame"],
    "/images": ["thumbnail"],
    "/connections": ["aws", "self_hosted"],
    "/connections/{id}": ["another_name", "another_key", "make_default", "sign_for_pages"],
    "/connections/{id}/sign": ["put", "read"],
    "/connections/{id}/test": ["bucket", "folder"],
    "/uploads": ["managed", "own_bucket"],
    "/uploads/{id}/complete": ["with_etags", "ask_the_storage"],
    "/webhooks/endpoints": ["ends", "everything"],
    "/webhooks/endpoints/{id}": ["another_url", "other_topics", "enable"],
    "/webhooks/endpoints/{id}/rotate": ["day", "at_once"],
    "/webhooks/secret/rotate": ["day", "at_once"],
    "/keys": ["usual", "reader"],
    "/keys/{id}/roll": ["a_day", "an_hour", "at_once"],
    "/tasks": [...ENCODE_KINDS],
    "/jobs": ["job"],
    "/steps": [...STEP_KINDS],
  });
});

test("every error has an example under its own status, in the shape of an error body", () => {
  const shown = new Set<string>();
  const statuses = { ...STATUS, ...WORK_STATUS };
  const elsewhere = { responses: { 404: document.components.responses.RouteNotFound as Answer } };
  for (const { responses } of [...operations.map(({ operation }) => operation), elsewhere]) {
    for (const [status, answer] of Object.entries(responses)) {
      if (Number(status) < 400 || !answer.content) continue;
      for (const [name, { value }] of Object.entries(answer.content["application/json"]?.examples ?? {})) {
        const body = ErrorBody.parse(value);
        expect(body.kind).toBe(name);
        expect(statuses[body.kind]).toBe(Number(status));
        shown.add(body.kind);
      }
    }
  }
  expect([...shown].toSorted()).toEqual([...REQUEST_ERROR_KINDS, ...WORK_ERROR_KINDS].toSorted());
});

test("every response documents Request-Id, and lists document Has-More", () => {
  for (const { operation } of operations) {
    for (const { headers = {} } of Object.values(operation.responses)) {
      expect(headers).toHaveProperty("Request-Id");
      for (const { $ref } of Object.values(headers)) {
        expect(document.components.headers).toHaveProperty($ref.replace("#/components/headers/", ""));
      }
    }
    const list = operation.responses[200]?.content?.["application/json"]?.schema.type === "array";
    expect("Has-More" in (operation.responses[200]?.headers ?? {})).toBe(list);
  }
});

test("every reference resolves", () => {
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g);
  const parts = document.components as unknown as Record<string, Record<string, unknown>>;
  let count = 0;
  for (const [, part = "", name = ""] of references) {
    expect(parts[part]).toHaveProperty(name);
    count++;
  }
  expect(count).toBeGreaterThan(50);
});

test("the schemas declare closed options, ranges and nullable fields", () => {
  const { VideoOptions, Step: step, ...schemas } = document.components.schemas as Record<string, never>;
  const camel = (kind: string) => kind.replace(/(^|_)\w/g, (part) => part.slice(-1).toUpperCase());
  const tasks = ENCODE_KINDS.map((kind) => `${camel(kind)}TaskRequest`);
  const $ref = (name: string) => `#/components/schemas/${name}`;
  expect(schemas.TaskRequest).toEqual({ oneOf: tasks.map((name) => ({ $ref: $ref(name) })) });
  for (const name of tasks) {
    const options = { $ref: $ref(name.replace("TaskRequest", "Options")) };
    expect(schemas[name]).toMatchObject({
      additionalProperties: false,
      required: ["input", "kind"],
      properties: { options },
    });
  }
  expect(VideoOptions).toMatchObject({
    additionalProperties: false,
    properties: { fps: { minimum: 1, maximum: 60 }, bitrate: { minimum: 300_000, maximum: 60_000_000 } },
  });
  expect(step).toMatchObject({
    properties: { output: { anyOf: [{ $ref: "#/components/schemas/Source" }, { type: "null" }] } },
  });
});
