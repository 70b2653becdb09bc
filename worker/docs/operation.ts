import type { z } from "zod";
import type { RequestErrorKind } from "../../src/core/errors.ts";
import { scopeOf } from "../auth/scopes.ts";
import type { Route } from "../http/context.ts";
import { STATUS } from "../http/errors.ts";
import { ERROR_EXAMPLES, EXAMPLE_REQUEST_ID, SCOPE_LACKING } from "./error-examples.ts";

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
  body?: { schema: string; examples: Examples };
  answers: Record<number, Answer>;
  errors: readonly RequestErrorKind[];
  /** True when it creates a record, and accepts an `Idempotency-Key` so that a repeated request creates no second one. */
  creates?: boolean;
}

/** The errors of the request for a task or step. */
export const WISH_ERRORS = [
  ...(["request_invalid", "input_required", "invalid_input", "invalid_kind", "invalid_format"] as const),
  ...(["invalid_codec", "invalid_options", "invalid_output", "connection_required"] as const),
] satisfies RequestErrorKind[];

/** An answer of an operation; `schema` names a component, `list` of it when `many`. */
export interface Answer {
  description: string;
  schema?: string;
  many?: boolean;
  examples?: Examples;
  headers?: readonly string[];
  /** Content that is not JSON, by media type. */
  content?: Record<string, { schema: object }>;
}

/** Writes the OpenAPI description of an operation. */
export function operation(given: Operation): Route {
  const { method, path, operationId, tag, summary, description, body, open, creates } = given;
  const once: RequestErrorKind[] = creates ? ["idempotency_conflict", "idempotency_mismatch"] : [];
  const errors: RequestErrorKind[] = [...given.errors, ...once, "internal_error", "service_unavailable"];
  const parameters = [...(given.parameters ?? []), ...(creates ? [idempotencyKey] : [])];
  const again = creates && given.answers[201] ? { 200: { ...given.answers[201], ...AGAIN } } : {};
  if (!open) errors.unshift("token_missing", "token_invalid", "forbidden", "rate_limited");
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
      ...describeAnswers({ ...again, ...given.answers }, limits),
      ...describeErrors(errors, limits),
    },
  };
  return { method, path, operation: described };
}

/** The answer to every path and method not in the document. */
export const routeNotFound = {
  description: "No operation has this path and method: `route_not_found`.",
  headers: headerRefs([]),
  content: json(ref("Error"), { route_not_found: errorExample("route_not_found") }),
};

const LIMIT_HEADERS = ["RateLimit", "RateLimit-Policy"] as const;

const AGAIN = { description: "The first answer to a request with this `Idempotency-Key`." };

const idempotencyKey: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A text of your choice, up to 255 characters: for a day, the same request with the same key returns the first record again, with 200, and creates nothing.",
  schema: {
    type: "string",
    minLength: 1,
    maxLength: 255,
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

function describeErrors(
  kinds: readonly RequestErrorKind[],
  limits: readonly string[],
): Record<string, object> {
  const byStatus = Map.groupBy(kinds, (kind) => STATUS[kind]);
  const entries = [...byStatus].map(([status, kinds]) => {
    const examples = Object.fromEntries(kinds.map((kind) => [kind, errorExample(kind, limits.length === 0)]));
    // Limits are per key, and here the key is unknown.
    const known = status === 401 ? [] : limits;
    const headers = [...(ERROR_HEADERS[status] ?? []), ...known];
    return [
      status,
      {
        description: kinds.map((kind) => `\`${kind}\``).join(", "),
        headers: headerRefs(headers),
        content: json(ref("Error"), examples),
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

function errorExample(kind: RequestErrorKind, open = true): unknown {
  const example = kind === "forbidden" && !open ? SCOPE_LACKING : ERROR_EXAMPLES[kind];
  return { kind, ...example, request_id: EXAMPLE_REQUEST_ID };
}

function json(schema: object, examples: Examples) {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return { "application/json": { ...(named.length > 0 && { examples: Object.fromEntries(named) }), schema } };
}

function ref(schema: string): { $ref: string } {
  return { $ref: `#/components/schemas/${schema}` };
}

function headerRefs(names: readonly string[]) {
  const entries = ["Request-Id", ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return Object.fromEntries(entries);
}

/** Returns the schema of a stream of events, each `data` of which is as the given one. */
export function eventsOf(update: z.ZodType): { type: "string" } {
  const contentSchema = { $ref: `#/components/schemas/${update.meta()?.id}` };
  return { type: "string", contentMediaType: "application/json", contentSchema } as { type: "string" };
}
