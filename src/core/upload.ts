import { z } from "zod";
import { MIB } from "../util/bytes.ts";
import { MediaError } from "./errors.ts";
import { invalid, parseObject } from "./parse-object.ts";
import { checkS3Url } from "./requests.ts";

/** The states of an upload: waiting for parts, or stored as a whole. */
export const UPLOAD_STATUSES = ["waiting", "stored"] as const;

/** Bytes of each part of an upload but the last, unless there would be too many; a file up to that size is one part. */
export const UPLOAD_PART_BYTES = 16 * MIB;

/** Seconds for which an upload's URLs are valid: the default, and the bounds of `seconds`. */
export const UPLOAD_SECONDS = { default: 86_400, min: 1, max: 604_800 } as const;

const MOST_PARTS = 10_000;
const MIME = /^[a-z]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/i;

/** Body of `POST /uploads`. */
export const UploadRequest = z
  .strictObject({
    size: z.int().min(1).meta({ description: "Bytes of the file: as many have to be sent." }),
    content_type: z
      .string()
      .max(128)
      .regex(MIME)
      .meta({ description: "Media type of the file.", example: "video/mp4" }),
    name: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .meta({ description: "Name of the file, without folders; outputs are called like it." }),
    output: z.string().optional().meta({
      description: "Destination `s3://<bucket>/<key>`; needs a connection. Managed storage where left out.",
    }),
    connection_id: z
      .string()
      .optional()
      .meta({ description: "Connection for `output`; the default one where left out." }),
    seconds: z.int().min(UPLOAD_SECONDS.min).max(UPLOAD_SECONDS.max).optional().meta({
      description: "How long the URLs are good; default 86400, a day.",
    }),
  })
  .meta({ id: "UploadRequest" });
/** A valid request for an upload. */
export type UploadRequest = z.infer<typeof UploadRequest>;

/** A part of an upload, and where it goes: `PUT` of exactly `size` bytes to `url` with exactly these headers, and without an API key. */
export const UploadPart = z
  .object({
    part: z.int().min(1).max(MOST_PARTS),
    size: z.int().min(1).meta({ description: "Bytes of this part, which follow those of the part before." }),
    url: z.string(),
    headers: z.record(z.string(), z.string()).meta({ description: "Headers that have to be sent." }),
  })
  .meta({ id: "UploadPart" });
/** A part of an upload, and where it goes. */
export type UploadPart = z.infer<typeof UploadPart>;

/** A file on its way from a page straight to storage. */
export const Upload = z
  .object({
    id: z.string().meta({ example: "upload_01kaggm8q0fzr2n5v3x7c1d9jb" }),
    object: z.literal("upload"),
    status: z.enum(UPLOAD_STATUSES),
    name: z.string(),
    size: z.int(),
    content_type: z.string(),
    url: z.string().meta({
      description: "What a task or step of this project takes as input, once the upload is `stored`.",
    }),
    output: z.string().nullable().meta({ description: "Null: in managed storage." }),
    connection_id: z.string().nullable(),
    parts: z.array(UploadPart).meta({ description: "In order, to be put in any; none once it is `stored`." }),
    etag: z.string().nullable().meta({ description: "Of the stored file." }),
    created_at: z.int(),
    expires_at: z.int().meta({
      description:
        "While `waiting`: when what was sent is dropped. Once `stored`: until when the `url` is good, and in managed storage the file is kept.",
    }),
  })
  .meta({ id: "Upload" });
/** A file on its way from a page straight to storage. */
export type Upload = z.infer<typeof Upload>;

/** Body of `POST /uploads/{id}/complete`. */
export const UploadCompletion = z
  .strictObject({
    parts: z
      .array(z.object({ part: z.int().min(1).max(MOST_PARTS), etag: z.string().min(1).max(1024) }))
      .min(1)
      .max(MOST_PARTS)
      .optional()
      .meta({
        description:
          "The `ETag` that each part was answered with. Where left out, the storage is asked, which the one or other S3 service cannot tell.",
      }),
  })
  .meta({ id: "UploadCompletion" });
/** The storage's answers to the parts of an upload. */
export type UploadCompletion = z.infer<typeof UploadCompletion>;

/** Parses the body of `POST /uploads`; throws `request_invalid`, or `invalid_output` for another destination than `s3://<bucket>/<key>`, with the field at fault. */
export function parseUploadRequest(body: unknown): UploadRequest {
  const given = parseObject(body, Object.keys(UploadRequest.shape));
  const parsed = UploadRequest.safeParse(given);
  if (!parsed.success) {
    const param = String(parsed.error.issues[0]?.path[0] ?? "");
    throw invalid(
      param,
      given[param] === undefined ? `is required: ${RIGHT[param]}` : `must be ${RIGHT[param]}`,
    );
  }
  const { name, output, connection_id } = parsed.data;
  if (name !== undefined && (/[/\\\p{Cc}]/u.test(name) || !name.isWellFormed() || /^\.+$/.test(name)))
    throw invalid("name", `must be ${RIGHT.name}`);
  if (output !== undefined && checkS3Url(output, "output").endsWith("/"))
    throw new MediaError("invalid_output", "output must name the file, not a folder.", { param: "output" });
  if (output === undefined && connection_id !== undefined)
    throw invalid("connection_id", "goes with output, and there is none.");
  return parsed.data;
}

/** Parses the body of `POST /uploads/{id}/complete`; throws `request_invalid` with the field at fault. */
export function parseUploadCompletion(body: unknown): UploadCompletion {
  const given = parseObject(body, Object.keys(UploadCompletion.shape));
  const parsed = UploadCompletion.safeParse(given);
  const parts = parsed.data?.parts ?? [];
  // A repeated part, or one out of order, is a mistake.
  if (parsed.success && parts.every(({ part }, index) => part === index + 1)) return parsed.data;
  throw invalid("parts", 'must be [{"part": 1, "etag": "…"}, …], each part in its turn.');
}

/** Returns the sizes of a file's parts: equal but for the last, at most `most` bytes where the storage has such a limit. */
export function partSizes(size: number, most = Number.POSITIVE_INFINITY): number[] {
  // Few enough to keep the answer short.
  const each = Math.min(most, Math.max(UPLOAD_PART_BYTES, Math.ceil(size / 1000 / MIB) * MIB));
  const count = Math.ceil(size / each);
  return Array.from({ length: count }, (_, index) => Math.min(each, size - index * each));
}

const RIGHT: Readonly<Record<string, string>> = {
  size: "a whole number of bytes from 1.",
  content_type: "a media type, such as video/mp4, of up to 128 characters.",
  name: "a file name of 1 to 255 characters, without slashes.",
  output: "a text of the shape s3://<bucket>/<key>.",
  connection_id: "the id of a connection.",
  seconds: `a whole number from ${UPLOAD_SECONDS.min} to ${UPLOAD_SECONDS.max}.`,
};
