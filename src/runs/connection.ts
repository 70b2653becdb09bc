import { z } from "zod";
import { ERROR_KINDS } from "../media/errors.ts";
import { closed, ruled, textUpTo, wholeWithin } from "../media/fields.ts";
import { BOUNDS } from "../media/formats.ts";
import { parseBody } from "../media/parse-body.ts";
import type { CreateId } from "./ids.ts";

/** The kinds of connections. */
export const CONNECTION_KINDS = ["s3"] as const;

const bucket = z
  .string("must be the name of a bucket.")
  .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
  .meta({ example: "my-bucket" });
const flag = z.boolean("must be true or false.");

const credential = (max: number) =>
  ruled(textUpTo(max), (text) =>
    /^[\x21-\x7e]+$/.test(text) ? null : "must be printable ASCII without spaces.",
  );

/** Methods that signed requests may use: read an object, write one whole or in parts, delete one. */
export const SIGNED_METHODS = ["GET", "PUT", "DELETE"] as const;

/** The longest validity of a signed request, in seconds. */
export const MAX_SIGNED_SECONDS = 3600;

const METHODS = `must be a list of at least one of ${SIGNED_METHODS.join(", ")}.`;

/** Requests that may be signed with a connection. */
export const SigningRule = closed({
  bucket,
  prefix: z
    .string("must be a text of up to 900 characters.")
    .max(900)
    .optional()
    .meta({ description: "Prefix of the keys; by default all keys of the bucket.", example: "films/" }),
  methods: z.array(z.enum(SIGNED_METHODS, METHODS), METHODS).min(1).meta({
    description:
      "The methods that may be signed: `GET` reads an object, also by HEAD; `PUT` writes one, whole or in parts; `DELETE` deletes one.",
  }),
}).meta({ id: "SigningRule" });
/** Requests that may be signed with a connection. */
export type SigningRule = z.infer<typeof SigningRule>;

const RULES = "must be a list of up to 20 rules.";

function brokenEndpoint(text: string): string | null {
  const url = URL.parse(text);
  const right = url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !/\p{Cc}/u.test(text);
  if (right && !url.username && !url.password) return null;
  return "must be an http:// or https:// URL without user name, query or fragment.";
}

/** Body of `POST /connections`. */
export const ConnectionRequest = closed({
  name: textUpTo(100).meta({ description: "A name of your choice.", example: "Archive" }),
  kind: z.enum(CONNECTION_KINDS, {
    error: ({ input }) => (typeof input === "string" ? "Unknown kind; use s3." : "is required: s3."),
  }),
  endpoint: ruled(
    z.string("must be the URL of an S3 server, up to 512 characters.").min(1).max(512),
    brokenEndpoint,
  ).meta({
    description: "Base URL of the S3 server, without a bucket.",
    example: "https://s3.eu-central-1.amazonaws.com",
  }),
  region: credential(64).meta({
    description: "Region for which requests are signed; `auto` on R2.",
    example: "eu-central-1",
  }),
  access_key_id: credential(256).meta({ example: "AKIAIOSFODNN7EXAMPLE" }),
  secret_access_key: credential(1024).meta({
    description: "Secret access key; write-only, so no response contains it.",
    example: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    writeOnly: true,
  }),
  force_path_style: flag.optional().meta({
    description:
      "True puts the bucket's name into the path of URLs, false into the host name. Default false for AWS, and true elsewhere.",
  }),
  is_default: flag.optional().meta({
    description:
      "True makes this connection the default, which serves requests that name none. The first connection is the default.",
  }),
  signing: z.array(SigningRule, RULES).max(20, RULES).optional().meta({
    description: "The requests that `POST /connections/{id}/sign` may sign; by default none.",
  }),
}).meta({ id: "ConnectionRequest" });
/** A valid request for a connection. */
export type ConnectionRequest = z.infer<typeof ConnectionRequest>;

/** Body of `PATCH /connections/{id}`: the fields to change. */
export const ConnectionChange = closed(ConnectionRequest.omit({ kind: true }).partial().shape)
  .superRefine((change, ctx) => {
    if (Object.keys(change).length === 0)
      ctx.addIssue({ code: "custom", message: "The body names no change." });
    if (change.is_default !== false) return;
    const message = "can only be set to true: make another connection the default one.";
    ctx.addIssue({ code: "custom", path: ["is_default"], message });
  })
  .meta({ id: "ConnectionChange" });
/** The fields of a connection to change. */
export type ConnectionChange = z.infer<typeof ConnectionChange>;

/** Stored credentials of S3-compatible storage, without the secret. */
export const Connection = ConnectionRequest.omit({ secret_access_key: true })
  .required()
  .extend({
    force_path_style: z.boolean().nullable().meta({ description: "Null uses the default of the endpoint." }),
    id: z.string().meta({ example: "conn_01kaggm8q0fzr2n5v3x7c1d9jb" }),
    object: z.literal("connection"),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: "Connection" });
/** Stored credentials of S3-compatible storage, without the secret. */
export type Connection = z.infer<typeof Connection>;

/** Body of `POST /connections/{id}/test`: where to write, read and delete a small object. */
export const ConnectionTestRequest = closed({
  bucket,
  prefix: z.string("must be a text of up to 900 characters.").max(900).optional().meta({
    description: "Prefix of the keys, such as a folder with a trailing slash.",
    example: "media/",
  }),
}).meta({ id: "ConnectionTestRequest" });
/** Where to test a connection. */
export type ConnectionTestRequest = z.infer<typeof ConnectionTestRequest>;

// `acl` or `versionId` would turn the request into another operation.
const parameter = z
  .string("must be a text.")
  .refine((text) => text.isWellFormed())
  .max(8192)
  .optional();

/** Body of `POST /connections/{id}/sign`: an S3 request that a client without the credentials will send. */
export const SignRequest = closed({
  method: z.enum(["GET", "HEAD", "PUT", "POST", "DELETE"], "must be GET, HEAD, PUT, POST or DELETE."),
  bucket,
  key: z
    .string("must be the key of an object.")
    .min(1)
    .max(BOUNDS.s3_key_bytes.max)
    .meta({ example: "films/clip.mp4" }),
  query: closed({ uploads: parameter, uploadId: parameter, partNumber: parameter }, "parameter")
    .optional()
    .meta({
      description:
        "Query parameters of an upload in parts, as in S3: `uploads`, `uploadId` and `partNumber`.",
    }),
  content_type: z
    .string("must be a text of up to 255 characters.")
    .regex(/^[\x20-\x7e]{0,255}$/)
    .nullable()
    .optional()
    .meta({ description: "Content-Type of the body, which must be sent unchanged." }),
  content_length: z
    .int("must be a whole number of bytes.")
    .min(0)
    .optional()
    .meta({ description: "Exact length of the body in bytes." }),
  seconds: wholeWithin({ min: 1, max: MAX_SIGNED_SECONDS })
    .optional()
    .meta({ description: `Seconds for which the URL is valid; default ${MAX_SIGNED_SECONDS}.` }),
}).meta({ id: "SignRequest" });
/** An S3 request that a client without the credentials will send. */
export type SignRequest = z.infer<typeof SignRequest>;

/** A signed request, which anyone may send until it expires. */
export const SignedRequest = z
  .object({
    object: z.literal("signed_request"),
    url: z.string(),
    headers: z.record(z.string(), z.string()).meta({ description: "Headers that the request must have." }),
    expires_at: z.int().meta({ description: "Milliseconds since the Unix epoch." }),
  })
  .meta({ id: "SignedRequest" });
/** A signed request, which anyone may send until it expires. */
export type SignedRequest = z.infer<typeof SignedRequest>;

/** Parses the body of `POST /connections/{id}/sign`; throws `request_invalid` with the field at fault. */
export function parseSignRequest(body: unknown): SignRequest {
  return parseBody(SignRequest, body);
}

/** The result of `POST /connections/reencrypt`. */
export const Reencryption = z
  .object({
    object: z.literal("reencryption"),
    connections: z.int().meta({ description: "Number of secrets of connections." }),
    webhook_secrets: z.int().meta({ description: "Number of secrets of webhooks." }),
    reencrypted: z.int().meta({
      description: "Number of these secrets that were encrypted with an older key, and now have the newest.",
    }),
    failed: z.array(z.string()).meta({
      description:
        "Ids of the connections and endpoints whose secrets no key decrypts, and `webhook_url` for the project's own secret; set these secrets again.",
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
  return parseBody(ConnectionTestRequest, body);
}

/** Parses the body of `POST /connections`; throws `request_invalid`, or `invalid_kind` for any kind but `s3`, with the field at fault. */
export function parseConnectionRequest(body: unknown): ConnectionRequest {
  return parseBody(ConnectionRequest, body);
}

/** Parses the body of `PATCH /connections/{id}`; throws `request_invalid` with the field at fault. */
export function parseConnectionChange(body: unknown): ConnectionChange {
  return parseBody(ConnectionChange, body);
}

/** Creates the record of a new connection. */
export function createConnection(request: ConnectionRequest, id: CreateId, now: number): Connection {
  const {
    secret_access_key: _,
    force_path_style = null,
    is_default = false,
    signing = [],
    ...rest
  } = request;
  return {
    id: id("connection", now),
    object: "connection",
    ...rest,
    force_path_style,
    is_default,
    signing,
    created_at: now,
    updated_at: now,
  };
}

/** Returns a connection with a change applied; the record never contains the secret. */
export function changeConnection(before: Connection, change: ConnectionChange, now: number): Connection {
  const { secret_access_key: _, ...rest } = change;
  const fields = Object.entries(rest).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(fields), updated_at: now };
}
