import { z } from "zod";
import * as encoderErrors from "../../src/encoders/errors.ts";
import type { MediaError, RequestErrorKind } from "../../src/media/errors.ts";
import * as ffmpegErrors from "../../src/media/ffmpeg/errors.ts";
import * as planErrors from "../../src/media/plan-errors.ts";
import * as probeErrors from "../../src/probe/errors.ts";
import * as runErrors from "../../src/runs/errors.ts";
import { IDEMPOTENCY_KEY_MAX, type IdType } from "../../src/runs/ids.ts";
import * as storageErrors from "../../src/storage/errors.ts";
import { scopeOf } from "../auth/bearer.ts";
import * as errors from "../errors.ts";
import { MAX_BODY_BYTES } from "../http/body.ts";
import type { Route } from "../http/context.ts";
import { ErrorBody, STATUS, WORK_ERROR_KINDS, WORK_STATUS, type WorkErrorKind } from "../http/errors.ts";

/** A parameter of a route. */
export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description: string;
  schema: object;
  example?: string;
}

/** Example values by name. */
export type Examples = Record<string, unknown>;

/** An operation to describe; errors that every operation can return are added. */
export interface Operation {
  method: Route["method"];
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** True when no API key is needed. */
  open?: boolean;
  parameters?: readonly Parameter[];
  body?: { schema: z.ZodType; examples: Examples };
  answers: Record<number, Answer>;
  errors: readonly RequestErrorKind[];
  /** True when the response waits for work on the input, and carries the errors of that work. */
  works?: boolean;
  /** True when it creates a record, and accepts an `Idempotency-Key` so that a repeated request creates no second one. */
  creates?: boolean;
}

/** The errors of a request for a task, a step or a job. */
export const RUN_REQUEST_ERRORS = [
  "request_invalid",
  "input_required",
  "invalid_input",
  "invalid_kind",
  "invalid_format",
  "invalid_codec",
  "invalid_options",
  "invalid_output",
  "connection_required",
] satisfies RequestErrorKind[];

/** The errors of a request for an estimate or a preview. */
export const SAMPLE_REQUEST_ERRORS = [
  ...RUN_REQUEST_ERRORS.filter((kind) => kind !== "invalid_output" && kind !== "connection_required"),
  "payload_too_large",
  "quota_exceeded",
] satisfies RequestErrorKind[];

/** An answer of an operation. The id of `schema` names a component of the document; `many` makes the answer an array of it. */
export interface Answer {
  description: string;
  schema?: z.ZodType;
  many?: boolean;
  examples?: Examples;
  headers?: readonly string[];
  /** Content that is not JSON, by media type. */
  content?: Record<string, { schema: object }>;
}

/** Creates a route with the OpenAPI description of its operation. */
export function operation(operation: Operation): Route {
  const { method, path, operationId, tag, summary, description, body, answers, open, creates, works } =
    operation;
  const errors: (RequestErrorKind | WorkErrorKind)[] = [
    ...(open ? [] : (["token_missing", "token_invalid", "forbidden", "rate_limited"] as const)),
    ...operation.errors,
    ...(creates ? (["idempotency_conflict", "idempotency_mismatch"] as const) : []),
    "internal_error",
    "service_unavailable",
    ...(works ? WORK_ERROR_KINDS : []),
  ];
  const parameters = [...(operation.parameters ?? []), ...(creates ? [idempotencyKey] : [])];
  const repeated = creates && answers[201] ? { 200: { ...answers[201], ...REPEATED } } : {};
  const limits = open ? [] : LIMIT_HEADERS;
  const described = {
    operationId,
    tags: [tag],
    summary,
    security: open ? [] : [{ api_key: [scopeOf(method, path)] }],
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: json(ref(body.schema), body.examples) } }),
    responses: {
      ...describeAnswers({ ...repeated, ...answers }, limits),
      ...describeErrors(errors, limits),
    },
  };
  return { method, path, operation: described };
}

const LIMIT_HEADERS = ["RateLimit", "RateLimit-Policy"] as const;

const REPEATED = { description: "The first answer to a request with this `Idempotency-Key`." };

const idempotencyKey: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  description: `A text of your choice, up to ${IDEMPOTENCY_KEY_MAX} characters: for a day, the same request with the same key returns the first record again, with 200, and creates nothing.`,
  schema: {
    type: "string",
    minLength: 1,
    maxLength: IDEMPOTENCY_KEY_MAX,
    examples: ["7c9e6679-7425-40de-944b-e07fc1f90ae7"],
  },
};

function describeAnswers(answers: Record<number, Answer>, limits: readonly string[]): Record<string, object> {
  const entries = Object.entries(answers).map(([status, answer]) => {
    const { description, schema, many, examples = {}, headers = [], content } = answer;
    const one = schema === undefined ? undefined : ref(schema);
    const shape = one && many ? { type: "array" as const, items: one } : one;
    const body = shape ? json(shape, examples) : content;
    return [
      status,
      { description, headers: headerRefs([...headers, ...limits]), ...(body && { content: body }) },
    ];
  });
  return Object.fromEntries(entries);
}

const STATUSES = { ...STATUS, ...WORK_STATUS };

function describeErrors(
  kinds: readonly (RequestErrorKind | WorkErrorKind)[],
  limits: readonly string[],
): Record<string, object> {
  const byStatus = Map.groupBy(kinds, (kind) => STATUSES[kind]);
  const entries = [...byStatus].map(([status, kinds]) => {
    const examples = Object.fromEntries(kinds.map((kind) => [kind, errorExample(kind, limits.length === 0)]));
    const headers = [...(ERROR_HEADERS[status] ?? []), ...(status === 401 ? [] : limits)];
    return [
      status,
      {
        description: kinds.map((kind) => `\`${kind}\``).join(", "),
        headers: headerRefs(headers),
        content: json(ref(ErrorBody), examples),
      },
    ];
  });
  return Object.fromEntries(entries);
}

const ERROR_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

function errorExample(kind: RequestErrorKind | WorkErrorKind, open = true): unknown {
  const example = kind === "forbidden" && !open ? SCOPE_MISSING : ERROR_EXAMPLES[kind];
  return { kind, ...example, request_id: EXAMPLE_REQUEST_ID };
}

function json(schema: object, examples: Examples) {
  const entries = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return {
    "application/json": { ...(entries.length > 0 && { examples: Object.fromEntries(entries) }), schema },
  };
}

/** Returns the reference to the component of a schema, which has its name from `meta({ id })`. */
export function ref(schema: z.ZodType): { $ref: string } {
  return { $ref: `#/components/schemas/${schema.meta()?.id}` };
}

function headerRefs(names: readonly string[]) {
  const entries = ["Request-Id", ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return Object.fromEntries(entries);
}

/** The parameter of the id in a path. */
export function idParameter(sort: IdType, example: string): Parameter[] {
  return [
    {
      name: "id",
      in: "path",
      required: true,
      description: `Id of the ${sort}.`,
      schema: { type: "string" },
      example,
    },
  ];
}

const EXAMPLE_INPUT = "https://example.com/clip.mov";
const EXAMPLE_REFUSALS = [{ encoder: "light", code: "input_codec", codec: "vvc" }] as const;

const ERROR_EXAMPLES = {
  request_invalid: {
    message: 'Unknown field "inputs"; the fields are input, kind, options, metadata, output, webhook_url.',
    param: "inputs",
  },
  input_required: { message: "input is required: the URL of the source.", param: "input" },
  invalid_input: {
    message: "input must be a URL that starts with http://, https://, s3://.",
    param: "input",
  },
  invalid_kind: {
    message:
      'Unknown kind "movie"; use video, audio, image, animation, storyboard, waveform, adaptive_video.',
    param: "kind",
  },
  invalid_format: {
    message: "options.format must be one of mp4, webm, mov for video.",
    param: "options.format",
  },
  invalid_codec: { message: "webm cannot hold h264 here; use vp9, av1.", param: "options.codec" },
  invalid_options: { message: "options.fps must be a number from 1 to 60.", param: "options.fps" },
  invalid_output: { message: "output must have the shape s3://<bucket>/<key>.", param: "output" },
  connection_required: {
    message: "An S3 output needs a stored connection, and there is none.",
    param: "output",
  },
  token_missing: example(errors.tokenMissing()),
  token_invalid: example(errors.tokenUnknown()),
  forbidden: example(errors.mediaUrlInvalid()),
  task_not_found: example(errors.notFound("task")),
  step_not_found: example(errors.notFound("step")),
  job_not_found: example(errors.notFound("job")),
  connection_not_found: example(errors.notFound("connection", { param: "options.connection_id" })),
  endpoint_not_found: example(errors.notFound("endpoint")),
  delivery_not_found: example(errors.notFound("delivery")),
  key_not_found: example(errors.notFound("key")),
  event_not_found: example(errors.notFound("event")),
  media_not_found: example(errors.mediaNotFound()),
  route_not_found: example(errors.routeNotFound({ path: "/task" })),
  task_finished: example(runErrors.notCancellable("task")),
  job_finished: example(runErrors.notCancellable("job")),
  step_finished: example(runErrors.notCancellable("step")),
  task_running: example(runErrors.running("task")),
  job_running: example(runErrors.running("job")),
  step_running: example(runErrors.running("step")),
  connection_in_use: { message: "Running tasks use the connection." },
  endpoint_disabled: example(errors.endpointDisabled()),
  idempotency_conflict: example(errors.idempotencyConflict()),
  idempotency_mismatch: { message: "This Idempotency-Key was used with another body." },
  payload_too_large: example(errors.largeBody({ max_bytes: MAX_BODY_BYTES })),
  rate_limited: example(errors.tooManyRequests({ limit: 300, counted: "requests", seconds: 12 })),
  quota_exceeded: example(errors.quotaExceeded({ of: "stored" })),
  internal_error: example(errors.internal()),
  service_unavailable: { message: "The service cannot answer at the moment; try again." },
  input_forbidden: example(storageErrors.forbidden({ url: EXAMPLE_INPUT, status: 403 })),
  input_not_found: example(storageErrors.notFound({ url: EXAMPLE_INPUT, status: 404 })),
  input_too_large: example(storageErrors.tooLarge({ size: 2_147_483_649, maxBytes: 2_147_483_648 })),
  input_unsupported: example(probeErrors.noMedia()),
  input_no_video: example(planErrors.noPictures({ kind: "video" })),
  input_no_audio: example(planErrors.noSound()),
  probe_failed: example(probeErrors.notProbed({ cause: null })),
  encoder_unavailable: example(encoderErrors.refused({ refusals: EXAMPLE_REFUSALS })),
  encode_failed: example(encoderErrors.noFiles()),
  encode_incomplete: example(encoderErrors.tooManyPictures({ extra: 1 })),
  out_of_memory: example(ffmpegErrors.outOfMemory({ log: undefined })),
  input_unreachable: example(storageErrors.headersLate({ url: EXAMPLE_INPUT, seconds: 30, cause: null })),
  input_changed: example(storageErrors.pinnedChanged()),
  upload_failed: example(errors.storageUnwritable({ cause: null })),
  storage_full: example(errors.storageFull({ cause: null })),
  worker_lost: example(encoderErrors.lightLost()),
  timeout: example(errors.sampleTimeout({ seconds: 60 })),
  stalled: example(errors.runStalled()),
} as const satisfies Record<RequestErrorKind | WorkErrorKind, { message: string; param?: string }>;

const SCOPE_MISSING = example(errors.scopeMissing({ scope: "write" }));

function example({ message, param }: MediaError): { message: string; param?: string } {
  return { message, ...(param !== undefined && { param }) };
}

const EXAMPLE_REQUEST_ID = "req_01kaggm8q0fzr2n5v3x7c1d9ja";

const API_VERSION = "0.1.0";

const INFO = {
  title: "Framewright",
  version: API_VERSION,
  description:
    "Media processing with one task model. A **task** takes the URL of a media file and a kind and runs probe, ingest, encode and upload; a **step** is one of these operations alone. Every request carries `Authorization: Bearer <API_KEY>`; every answer carries `Request-Id`.",
  license: { name: "MIT", identifier: "MIT" },
};

const TAGS = [
  { name: "Tasks", description: "A task runs the whole pipeline over one media file." },
  { name: "Jobs", description: "Several outputs of one media file, which is read once." },
  { name: "Steps", description: "A step is one operation, to compose a pipeline of your own." },
  { name: "Connections", description: "S3-compatible storage of your own, for inputs and outputs." },
  { name: "Uploads", description: "Files that a page sends straight to storage, as inputs of tasks." },
  { name: "Webhooks", description: "Events of the project, and the URLs to which they are posted." },
  { name: "Keys", description: "The project's API keys." },
  { name: "Media", description: "The files of outputs." },
  { name: "Images", description: "Pictures in the size and format that their URL states." },
  { name: "Service", description: "The service itself." },
];

const HEADERS = {
  "Request-Id": "Id of the request, for support.",
  Link: 'The neighboring pages of a list: `<url>; rel="next"`, `<url>; rel="prev"` (RFC 8288).',
  "Has-More": "`true` when more records follow in the same direction.",
  "Retry-After": "Seconds to wait.",
  RateLimit:
    'What is left of the limits of the key: `"requests";r=299;t=60` leaves 299 until 60 seconds from now. Requests that create a record also state `"creations"`.',
  "RateLimit-Policy": 'The limits of a key: `"requests";q=300;w=60` are 300 in 60 seconds.',
  "WWW-Authenticate": "The authentication scheme to use, and the scope that the key lacks.",
  ETag: "Version of the file.",
  "Accept-Ranges": "`bytes`: the file can be read in ranges.",
  "Content-Range": "The range of bytes, and the size of the file.",
  "Cache-Control": "How long the response may be cached.",
  "Cache-Status": "Whether the picture was stored or had to be converted (RFC 9211).",
  Dropped:
    "What the source has and the picture lacks, with the reason: `gain_map;reason=not_supported`. Absent where nothing is lost.",
};

/** Creates the OpenAPI 3.1 document of routes; its components are the zod schemas that have an id. */
export function createDocument(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, operation } of routes) paths[path] = { ...paths[path], [method]: operation };
  const headers = Object.entries(HEADERS).map(([name, description]) => [
    name,
    { description, schema: { type: "string" } },
  ]);
  return {
    openapi: "3.1.0",
    info: INFO,
    tags: TAGS,
    components: {
      securitySchemes: { api_key: { type: "http", scheme: "bearer" } },
      headers: Object.fromEntries(headers),
      responses: {
        RouteNotFound: {
          description: "No operation has this path and method: `route_not_found`.",
          headers: headerRefs([]),
          content: json(ref(ErrorBody), { route_not_found: errorExample("route_not_found") }),
        },
      },
      schemas: jsonSchemas(),
    },
    paths,
  };
}

function jsonSchemas(): Record<string, object> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    io: "input",
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  // The registry's order depends on which module loads first.
  const names = Object.keys(schemas).sort();
  return Object.fromEntries(
    names.map((name) => {
      const { $schema, $id, ...schema } = schemas[name] ?? {};
      return [name, schema];
    }),
  );
}
