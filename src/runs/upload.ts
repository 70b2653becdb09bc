import { z } from "zod";
import { brokenS3, closed, ruled, wholeWithin } from "../media/fields.ts";
import { parseBody } from "../media/parse-body.ts";
import { MIB } from "../util/bytes.ts";

/** The states of an upload: waiting for parts, or completely stored. */
const UPLOAD_STATUSES = ["waiting", "stored"] as const;

/** Bytes of each part of an upload but the last; larger when there would be too many parts. */
const UPLOAD_PART_BYTES = 16 * MIB;

/** Seconds for which an upload's URLs are valid: the default, and the bounds of `seconds`. */
export const UPLOAD_SECONDS = { default: 86_400, min: 1, max: 604_800 } as const;

const MAX_PARTS = 10_000;
const MIME = /^[a-z]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/i;

const required = (right: string) => ({
  error: ({ input }: z.core.$ZodRawIssue) =>
    input === undefined ? `is required: ${right}` : `must be ${right}`,
});
const isFileName = (text: string) => !/[/\\\p{Cc}]/u.test(text) && text.isWellFormed() && !/^\.+$/.test(text);

/** Body of `POST /uploads`. */
export const UploadRequest = closed({
  size: z
    .int(required("a whole number of bytes from 1."))
    .min(1)
    .meta({ description: "Exact size of the file in bytes." }),
  content_type: z
    .string(required("a media type, such as video/mp4, of up to 128 characters."))
    .max(128)
    .regex(MIME)
    .meta({ description: "Media type of the file.", example: "video/mp4" }),
  name: z
    .string("must be a file name of 1 to 255 characters, without slashes.")
    .min(1)
    .max(255)
    .refine(isFileName)
    .optional()
    .meta({ description: "Name of the file, without folders; outputs are named after it." }),
  output: ruled(
    z.string("must be a text of the shape s3://<bucket>/<key>."),
    (url) => brokenS3(url) ?? (url.endsWith("/") ? "must name the file, not a folder." : null),
  )
    .optional()
    .meta({
      description: "Destination `s3://<bucket>/<key>`; needs a connection. Managed storage when absent.",
    }),
  connection_id: z
    .string("must be the id of a connection.")
    .optional()
    .meta({ description: "Id of the connection for `output`; by default the default connection." }),
  seconds: wholeWithin(UPLOAD_SECONDS).optional().meta({
    description: "Seconds for which the URLs are valid; default 86400, a day.",
  }),
})
  .superRefine(({ output, connection_id }, ctx) => {
    if (output !== undefined || connection_id === undefined) return;
    const message = "goes with output, and there is none.";
    ctx.addIssue({ code: "custom", path: ["connection_id"], message });
  })
  .meta({ id: "UploadRequest" });
/** A valid request for an upload. */
export type UploadRequest = z.infer<typeof UploadRequest>;

/** A part of an upload: `PUT` exactly `size` bytes to `url` with exactly these headers, and without an API key. */
export const UploadPart = z
  .object({
    part: z.int().min(1).max(MAX_PARTS),
    size: z
      .int()
      .min(1)
      .meta({ description: "Size of the part in bytes; parts follow one another in the file." }),
    url: z.string(),
    headers: z.record(z.string(), z.string()).meta({ description: "Headers that the request must have." }),
  })
  .meta({ id: "UploadPart" });
/** A part of an upload, and its URL. */
export type UploadPart = z.infer<typeof UploadPart>;

/** A file that a page uploads straight to storage. */
export const Upload = z
  .object({
    id: z.string().meta({ example: "upload_01kaggm8q0fzr2n5v3x7c1d9jb" }),
    object: z.literal("upload"),
    status: z.enum(UPLOAD_STATUSES),
    name: z.string(),
    size: z.int(),
    content_type: z.string(),
    url: z.string().meta({
      description: "The input for a task or step of this project, once the upload is `stored`.",
    }),
    output: z.string().nullable().meta({ description: "Destination of the file; null in managed storage." }),
    connection_id: z.string().nullable(),
    parts: z.array(UploadPart).meta({
      description: "The parts in order, which may be sent in any order; empty once the upload is `stored`.",
    }),
    etag: z.string().nullable().meta({ description: "ETag of the stored file." }),
    created_at: z.int(),
    expires_at: z.int().meta({
      description:
        "While `waiting`, the time at which the parts that were sent are discarded; once `stored`, the time at which the `url` expires and a file in managed storage is deleted.",
    }),
  })
  .meta({ id: "Upload" });
/** A file that a page uploads straight to storage. */
export type Upload = z.infer<typeof Upload>;

const PARTS = 'must be [{"part": 1, "etag": "…"}, …], each part in its turn.';
const partEtag = z.object(
  { part: z.int(PARTS).min(1).max(MAX_PARTS), etag: z.string(PARTS).min(1).max(1024) },
  PARTS,
);

/** Body of `POST /uploads/{id}/complete`. */
export const UploadCompletion = closed({
  parts: z
    .array(partEtag, PARTS)
    .min(1)
    .max(MAX_PARTS)
    .refine((parts) => parts.every(({ part }, index) => part === index + 1))
    .optional()
    .meta({
      description:
        "The `ETag` returned for each part. When absent, the storage is asked, which not every S3 service can answer.",
    }),
}).meta({ id: "UploadCompletion" });
/** The ETags that the storage returned for the parts of an upload. */
export type UploadCompletion = z.infer<typeof UploadCompletion>;

/**
 * Parses the body of `POST /uploads`; throws `request_invalid`, or `invalid_output` for a destination other than
 * `s3://<bucket>/<key>`, with the field at fault.
 */
export function parseUploadRequest(body: unknown): UploadRequest {
  return parseBody(UploadRequest, body);
}

/** Parses the body of `POST /uploads/{id}/complete`; throws `request_invalid` with the field at fault. */
export function parseUploadCompletion(body: unknown): UploadCompletion {
  return parseBody(UploadCompletion, body);
}

/** Returns the sizes in bytes of a file's parts, equal but for the last; `max` is the storage's limit for one part, default none. */
export function partSizes(size: number, max = Number.POSITIVE_INFINITY): number[] {
  // A response lists all parts, so there are at most 1000.
  const part_size = Math.min(max, Math.max(UPLOAD_PART_BYTES, Math.ceil(size / 1000 / MIB) * MIB));
  const count = Math.ceil(size / part_size);
  return Array.from({ length: count }, (_, index) => Math.min(part_size, size - index * part_size));
}
