import { z } from "zod";
import { checkOptions } from "./check-options.ts";
import { MediaError } from "./errors.ts";
import {
  BOUNDS,
  ENCODE_KINDS,
  type EncodeKind,
  INPUT_SCHEMES,
  STEP_KINDS,
  type StepKind,
} from "./formats.ts";
import { OPTIONS } from "./options.ts";
import { invalid, parseObject, quote } from "./parse-object.ts";
import { ExternalFile, Source } from "./source.ts";
import { parseWebhookUrl } from "./webhook-url.ts";

const metadata = z.record(z.string(), z.unknown());
const webhookUrl = z.string().optional().meta({
  description: "Where its events are posted to, https://; in no answer but those of deliveries.",
  example: "https://example.com/hooks",
});

/** Body of `POST /tasks`. */
export const TaskRequest = z
  .strictObject({
    input: z.string().meta({
      description: "Source URL: http://, https:// or s3://.",
      example: "https://example.com/clip.mov",
    }),
    kind: z.enum(ENCODE_KINDS),
    options: z
      .union([OPTIONS.video, OPTIONS.audio, OPTIONS.image, OPTIONS.adaptive_video])
      .optional()
      .meta({ description: "The options of the chosen kind." }),
    output: z
      .string()
      .optional()
      .meta({ description: "Destination `s3://<bucket>/<key>`; needs a connection." }),
    metadata: metadata.optional().meta({ description: "Key-value pairs of your own, up to 16 KB." }),
    webhook_url: webhookUrl,
  })
  .meta({ id: "TaskRequest" });

/** Body of `POST /steps`. */
export const StepRequest = z
  .strictObject({
    kind: z.enum(STEP_KINDS),
    input: z.union([Source, ExternalFile.partial({ object: true })]),
    options: z
      .union([
        OPTIONS.video,
        OPTIONS.audio,
        OPTIONS.image,
        OPTIONS.adaptive_video,
        OPTIONS.upload,
        OPTIONS.probe,
      ])
      .optional(),
    webhook_url: webhookUrl,
  })
  .meta({ id: "StepRequest" });

/** A valid request for a task. */
export interface TaskRequest {
  input: string;
  kind: EncodeKind;
  options: Record<string, unknown>;
  output?: string;
  metadata: Record<string, unknown>;
  webhook_url?: string;
}

/** A valid request for a standalone step. */
export interface StepRequest {
  kind: StepKind;
  input: Source | ExternalFile;
  options: Record<string, unknown>;
  webhook_url?: string;
}

/** Parses the body of `POST /tasks`; throws a {@link MediaError} whose kind and `param` name the first fault. */
export function parseTaskRequest(body: unknown): TaskRequest {
  const given = parseObject(body, ["input", "kind", "options", "output", "metadata", "webhook_url"]);
  const input = parseUrl(given.input, "input", INPUT_SCHEMES);
  const kind = parseKind(given.kind, ENCODE_KINDS);
  const options = checkOptions(kind, given.options);
  const request: TaskRequest = { input, kind, options, metadata: parseMetadata(given.metadata) };
  if (given.output != null) request.output = checkS3Url(given.output, "output");
  return { ...request, ...parseWebhook(given.webhook_url) };
}

/** Parses the body of `POST /steps`; throws a {@link MediaError} whose kind and `param` name the first fault. */
export function parseStepRequest(body: unknown): StepRequest {
  const given = parseObject(body, ["kind", "input", "options", "webhook_url"]);
  const kind = parseKind(given.kind, STEP_KINDS);
  const input = parseStepInput(kind, given.input);
  const options = checkOptions(kind, given.options);
  if (kind === "upload") checkS3Url(options.url, "options.url");
  return { kind, input, options, ...parseWebhook(given.webhook_url) };
}

function parseWebhook(value: unknown): { webhook_url?: string } {
  return value == null ? {} : { webhook_url: parseWebhookUrl(value, "webhook_url") };
}

function parseKind<K extends string>(kind: unknown, kinds: readonly K[]): K {
  const choices = kinds.join(", ");
  if (kind == null) throw invalid("kind", `is required: ${choices}.`);
  if (typeof kind !== "string") throw invalid("kind", "must be a string.");
  if (!kinds.includes(kind as K)) {
    throw new MediaError("invalid_kind", `Unknown kind ${quote(kind)}; use ${choices}.`, { param: "kind" });
  }
  return kind as K;
}

function parseUrl(value: unknown, param: string, schemes: readonly string[]): string {
  if (value == null || value === "") {
    throw invalid(param, "is required: the URL of the source.", "input_required");
  }
  if (typeof value !== "string") throw invalid(param, "must be a string.");
  const fault = (rule: string) => invalid(param, rule, "invalid_input");
  if (value.length > BOUNDS.url_length.max)
    throw fault(`must not be longer than ${BOUNDS.url_length.max} characters.`);
  // The URL parser drops line breaks and tabs, so the text would differ from the URL fetched.
  if (/\p{Cc}/u.test(value)) throw fault("must not hold control characters.");
  const url = URL.parse(value);
  if (!url || !schemes.includes(url.protocol) || !/^[a-z0-9]+:\/\//i.test(value)) {
    throw fault(`must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(", ")}.`);
  }
  if (!url.hostname) throw fault("must name a host.");
  if (url.username || url.password) throw fault("must not hold a user name or password.");
  if (url.protocol === "s3:") checkS3Url(value, param, "invalid_input");
  return value;
}

/** Checks that a value is a URL of the form `s3://<bucket>/<key>` and returns it; throws `request_invalid` for anything but a string, and the given kind for any other form. */
export function checkS3Url(
  value: unknown,
  param: string,
  kind: "invalid_output" | "invalid_input" = "invalid_output",
): string {
  if (typeof value !== "string") throw invalid(param, "must be a string.");
  const [, key] = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/(.+)$/.exec(value) ?? [];
  if (key === undefined || value.length > BOUNDS.url_length.max || /\p{Cc}/u.test(value)) {
    throw invalid(param, "must have the shape s3://<bucket>/<key>.", kind);
  }
  const bytes = new TextEncoder().encode(key).length;
  // URLs drop such parts, so another key would be requested.
  const dotted = key.split("/").some((part) => part === "." || part === "..");
  if (bytes > BOUNDS.s3_key_bytes.max || dotted || !key.isWellFormed()) {
    const right = `of up to ${BOUNDS.s3_key_bytes.max} bytes, without . or .. between slashes`;
    throw invalid(param, `must have a key ${right}.`, kind);
  }
  return value;
}

function parseMetadata(value: unknown): Record<string, unknown> {
  if (value == null) return {};
  const parsed = metadata.safeParse(value);
  if (!parsed.success || Array.isArray(value)) {
    throw new MediaError("request_invalid", "metadata must be an object.", { param: "metadata" });
  }
  if (new TextEncoder().encode(JSON.stringify(value)).length > BOUNDS.metadata_bytes.max) {
    throw new MediaError("request_invalid", `metadata must not exceed ${BOUNDS.metadata_bytes.max} bytes.`, {
      param: "metadata",
    });
  }
  // The original: a parsed copy lacks a field named `__proto__`.
  return value as Record<string, unknown>;
}

function parseStepInput(kind: StepKind, value: unknown): Source | ExternalFile {
  if (value == null) throw new MediaError("input_required", "input is required.", { param: "input" });
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new MediaError("request_invalid", "input must be an object.", { param: "input" });
  }
  const given = value as Record<string, unknown>;
  const url = parseUrl(given.url, "input.url", INPUT_SCHEMES);
  if (kind === "probe" || kind === "ingest") {
    const object = given.object ?? "external_file";
    if (object === "external_file" || object === "source") return { object: "external_file", url };
    const wrongType = typeof object !== "string";
    throw new MediaError(
      wrongType ? "request_invalid" : "invalid_input",
      "input.object must be external_file or source.",
      { param: "input.object" },
    );
  }
  const parsed = Source.safeParse(given);
  if (parsed.success) return parsed.data;
  throw sourceError(parsed.error.issues[0], given);
}

function sourceError(issue: z.core.$ZodIssue | undefined, given: Record<string, unknown>): MediaError {
  const path = issue?.path ?? [];
  const param = ["input", ...path].join(".");
  let value: unknown = given;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  const fraction = typeof value === "number" && issue?.code === "invalid_type" && issue.expected === "int";
  const wrongType = issue?.code === "invalid_type" && value !== undefined && !fraction;
  const fault = value === undefined ? "is missing" : "is wrong";
  const message = `${param} ${fault}: pass a Source, such as the output of a probe step.`;
  return new MediaError(wrongType ? "request_invalid" : "invalid_input", message, { param });
}
