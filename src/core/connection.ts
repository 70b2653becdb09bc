import { z } from "zod";
import { ERROR_KINDS, MediaError } from "./errors.ts";
import { BOUNDS } from "./formats.ts";
import type { CreateId } from "./ids.ts";
import { invalid, parseObject } from "./parse-object.ts";

/** The kinds of connections. */
export const CONNECTION_KINDS = ["s3"] as const;

const bucket = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
  .meta({ example: "my-bucket" });
const wellFormed = z.string().refine((text) => text.isWellFormed(), "must be whole Unicode text");
const text = (max: number) => z.string().min(1).max(max);

/** Body of `POST /connections`. */
export const ConnectionRequest = z
  .strictObject({
    name: text(100).meta({ description: "Name of your own.", example: "Archive" }),
    kind: z.enum(CONNECTION_KINDS),
    endpoint: text(512).meta({
      description: "Base URL of the S3 server, without a bucket.",
      example: "https://s3.eu-central-1.amazonaws.com",
    }),
    region: text(64).meta({
      description: "Region that requests are signed for; `auto` on R2.",
      example: "eu-central-1",
    }),
    access_key_id: text(256).meta({ example: "AKIAIOSFODNN7EXAMPLE" }),
    secret_access_key: text(1024).meta({
      description: "Written only: no answer ever holds it.",
      example: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      writeOnly: true,
    }),
    force_path_style: z.boolean().optional().meta({
      description:
        "True names the bucket in the path, false in the host. Default false for AWS and true elsewhere.",
    }),
    is_default: z
      .boolean()
      .optional()
      .meta({ description: "True makes it the one that serves where none is named; the first one is." }),
  })
  .meta({ id: "ConnectionRequest" });
/** A valid request for a connection. */
export type ConnectionRequest = z.infer<typeof ConnectionRequest>;

/** Body of `PATCH /connections/{id}`: the fields to change. */
export const ConnectionChange = ConnectionRequest.omit({ kind: true })
  .partial()
  .meta({ id: "ConnectionChange" });
/** The fields of a connection to change. */
export type ConnectionChange = z.infer<typeof ConnectionChange>;

/** Stored credentials of S3-compatible storage, without the secret. */
export const Connection = ConnectionRequest.omit({ secret_access_key: true })
  .required()
  .extend({
    force_path_style: z.boolean().nullable().meta({ description: "Null: as it is usual at the endpoint." }),
    id: z.string().meta({ example: "conn_01kaggm8q0fzr2n5v3x7c1d9jb" }),
    object: z.literal("connection"),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: "Connection" });
/** Stored credentials of S3-compatible storage, without the secret. */
export type Connection = z.infer<typeof Connection>;

/** Body of `POST /connections/{id}/test`: where to write, read and delete a small object. */
export const ConnectionTestRequest = z
  .strictObject({
    bucket,
    prefix: z.string().max(900).optional().meta({
      description: "What keys begin with there, such as a folder with a slash at its end.",
      example: "media/",
    }),
  })
  .meta({ id: "ConnectionTestRequest" });
/** Where to test a connection. */
export type ConnectionTestRequest = z.infer<typeof ConnectionTestRequest>;

/** Body of `POST /connections/{id}/sign`: a request to S3 for a sender without the keys. */
export const SignRequest = z
  .strictObject({
    method: z.enum(["GET", "HEAD", "PUT", "POST", "DELETE"]),
    bucket,
    key: z.string().min(1).max(BOUNDS.s3_key_bytes.max).meta({ example: "films/clip.mp4" }),
    query: z
      .record(z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/), wellFormed.max(8192))
      .optional()
      .meta({ description: "`uploads`, `uploadId`, `partNumber`, as S3 has them." }),
    content_type: z
      .string()
      .regex(/^[\x20-\x7e]{0,255}$/)
      .nullable()
      .optional()
      .meta({ description: "It has to be sent just so." }),
    content_length: z
      .int()
      .min(0)
      .optional()
      .meta({ description: "Bytes of the body: as many have to be sent." }),
    seconds: z
      .int()
      .min(1)
      .max(604_800)
      .optional()
      .meta({ description: "How long the URL is good; default 3600." }),
  })
  .meta({ id: "SignRequest" });
/** A request to S3 for a sender without the keys. */
export type SignRequest = z.infer<typeof SignRequest>;

/** A signed request, which anyone may send until it expires. */
export const SignedRequest = z
  .object({
    object: z.literal("signed_request"),
    url: z.string(),
    headers: z.record(z.string(), z.string()).meta({ description: "Headers that have to be sent." }),
    expires_at: z.int().meta({ description: "Milliseconds since the Unix epoch." }),
  })
  .meta({ id: "SignedRequest" });
/** A signed request, which anyone may send until it expires. */
export type SignedRequest = z.infer<typeof SignedRequest>;

/** Parses the body of `POST /connections/{id}/sign`; throws `request_invalid` with the field at fault. */
export function parseSignRequest(body: unknown): SignRequest {
  return parse(SignRequest, body);
}

/** The result of `POST /connections/reencrypt`. */
export const Reencryption = z
  .object({
    object: z.literal("reencryption"),
    connections: z.int().meta({ description: "How many there are." }),
    webhook_secrets: z.int().meta({ description: "How many secrets of webhooks there are." }),
    reencrypted: z.int().meta({ description: "How many of all these an older key had encrypted." }),
    failed: z.array(z.string()).meta({
      description:
        "Ids of connections and endpoints that no key opens any more, `webhook_url` for the project's own secret; set their secrets anew.",
    }),
  })
  .meta({ id: "Reencryption" });
/** The result of `POST /connections/reencrypt`. */
export type Reencryption = z.infer<typeof Reencryption>;

/** The result of testing a connection. */
export const ConnectionTest = z
  .object({
    object: z.literal("connection_test"),
    ok: z.boolean().meta({ description: "True when an object could be written, read and deleted." }),
    error: z.object({ kind: z.enum(ERROR_KINDS), message: z.string() }).nullable(),
  })
  .meta({ id: "ConnectionTest" });
/** The result of testing a connection. */
export type ConnectionTest = z.infer<typeof ConnectionTest>;

/** Parses the body of `POST /connections/{id}/test`; throws `request_invalid` with the field at fault. */
export function parseConnectionTest(body: unknown): ConnectionTestRequest {
  return parse(ConnectionTestRequest, body);
}

/** Parses the body of `POST /connections`; throws `request_invalid`, or `invalid_kind` for another kind than `s3`, with the field at fault. */
export function parseConnectionRequest(body: unknown): ConnectionRequest {
  return parse(ConnectionRequest, body);
}

/** Parses the body of `PATCH /connections/{id}`; throws `request_invalid` with the field at fault. */
export function parseConnectionChange(body: unknown): ConnectionChange {
  const change = parse(ConnectionChange, body);
  if (Object.keys(change).length === 0) throw new MediaError("request_invalid", "The body names no change.");
  // Clearing it would leave the project without a default connection.
  if (change.is_default === false) {
    const message = "is_default can only be set to true: make another connection the default one.";
    throw new MediaError("request_invalid", message, { param: "is_default" });
  }
  return change;
}

/** Builds the record of a new connection. */
export function createConnection(request: ConnectionRequest, id: CreateId, now: number): Connection {
  const { secret_access_key: _, force_path_style = null, is_default = false, ...rest } = request;
  const times = { created_at: now, updated_at: now };
  return { id: id("connection", now), object: "connection", ...rest, force_path_style, is_default, ...times };
}

/** Returns a connection with a change applied; the secret is not part of the record. */
export function changeConnection(before: Connection, change: ConnectionChange, now: number): Connection {
  const { secret_access_key: _, ...rest } = change;
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(given), updated_at: now };
}

function parse<T extends z.ZodObject>(schema: T, body: unknown): z.infer<T> {
  const given = parseObject(body, Object.keys(schema.shape));
  const parsed = schema.safeParse(given);
  const issue = parsed.error?.issues[0];
  if (!parsed.success) throw faultOf(String(issue?.path[0] ?? ""), given);
  checkEndpoint(given.endpoint);
  for (const name of ["region", "access_key_id", "secret_access_key"]) {
    // They go into headers and into the text that is signed.
    if (given[name] !== undefined && !/^[\x21-\x7e]+$/.test(String(given[name])))
      throw invalid(name, "must be printable ASCII without spaces.");
  }
  return parsed.data;
}

const RIGHT: Readonly<Record<string, string>> = {
  name: "must be a text of 1 to 100 characters.",
  endpoint: "must be the URL of an S3 server, up to 512 characters.",
  region: "must be a text of 1 to 64 characters.",
  access_key_id: "must be a text of 1 to 256 characters.",
  secret_access_key: "must be a text of 1 to 1024 characters.",
  force_path_style: "must be true or false.",
  is_default: "must be true or false.",
  bucket: "must be the name of a bucket.",
  method: "must be GET, HEAD, PUT, POST or DELETE.",
  key: "must be the key of an object.",
  query: "must be texts by their names.",
  content_type: "must be a text of up to 255 characters.",
  content_length: "must be a whole number of bytes.",
  seconds: "must be a whole number from 1 to 604800.",
  prefix: "must be a text of up to 900 characters.",
};

function faultOf(param: string, given: Record<string, unknown>): MediaError {
  if (param === "kind" && typeof given.kind === "string")
    return new MediaError("invalid_kind", "Unknown kind; use s3.", { param });
  if (param === "kind") return invalid(param, "is required: s3.");
  return invalid(param, RIGHT[param] ?? "is wrong.");
}

function checkEndpoint(value: unknown): void {
  if (value === undefined) return;
  const url = URL.parse(String(value));
  const right =
    url &&
    /^https?:$/.test(url.protocol) &&
    !url.username &&
    !url.password &&
    !url.search &&
    !url.hash &&
    !/\p{Cc}/u.test(String(value));
  if (!right)
    throw invalid("endpoint", "must be an http:// or https:// URL without user name, query or fragment.");
}
