import type { Context } from "hono";
import { z } from "zod";
import { errors } from "../errors.ts";
import { readJson } from "../http/body.ts";
import { UPLOAD_LIMITS, type Upload, type Uploads } from "./uploads.ts";

const PARTS = z.object({
  parts: z
    .array(
      z.object({
        part: z.int().min(1).max(UPLOAD_LIMITS.parts),
        etag: z.string().min(1).max(1024),
      }),
    )
    .min(1)
    .max(UPLOAD_LIMITS.parts),
});
const UPLOAD_ID = /^[\w.~=+/-]{1,1024}$/;
const MIME = /^[a-z]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/i;
const MIME_CHARS = 128;

/** Takes what a request brings for the object of that key. */
export type Receive = (c: Context, uploads: Uploads, key: string) => Promise<Response>;

/** Takes a file of a known length, or with `upload` and `part` in the query a part of one. */
export async function receiveBytes(c: Context, uploads: Uploads, key: string): Promise<Response> {
  const number = c.req.query("part");
  const upload = uploadOf(c, uploads, key);
  if ((number === undefined) !== (upload === null)) throw errors.uploadAndPart();
  const size = lengthOf(c);
  const body = c.req.raw.body ?? new Blob([]).stream();
  if (upload) return c.json({ etag: await upload.part(partOf(number ?? ""), body, size) });
  const { etag } = await uploads.put(key, body, size, mimeOf(c));
  return c.json({ size, etag }, 201);
}

/** Begins a file in parts by `?uploads`, or makes the file of `?upload=…` of the parts that the body names. */
export async function receiveOrder(c: Context, uploads: Uploads, key: string): Promise<Response> {
  const upload = uploadOf(c, uploads, key);
  if (upload) {
    const order = PARTS.safeParse(await readJson(c.req.raw));
    const parts = order.data?.parts ?? [];
    if (
      parts.length === 0 ||
      parts.some(({ part }, index) => index > 0 && part <= (parts[index - 1]?.part ?? 0))
    )
      throw errors.partListMalformed();
    const { size, etag } = await upload.complete(parts);
    return c.json({ size, etag }, 201);
  }
  if (c.req.query("uploads") === undefined) throw errors.postQueryMissing();
  return c.json({ upload: await uploads.begin(key, mimeOf(c)) }, 201);
}

/** Drops the parts of `?upload=…`. */
export async function dropUpload(c: Context, uploads: Uploads, key: string): Promise<Response> {
  const upload = uploadOf(c, uploads, key);
  if (!upload) throw errors.deleteQueryMissing();
  await upload.abort();
  return c.body(null, 204);
}

function uploadOf(c: Context, uploads: Uploads, key: string): Upload | null {
  const id = c.req.query("upload");
  if (id === undefined) return null;
  if (!UPLOAD_ID.test(id)) throw errors.uploadIdMalformed();
  return uploads.resume(key, id);
}

function partOf(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= UPLOAD_LIMITS.parts) return number;
  throw errors.partNumberMalformed({ max: UPLOAD_LIMITS.parts });
}

function lengthOf(c: Context): number {
  const text = c.req.header("Content-Length") ?? "";
  if (!/^\d{1,15}$/.test(text)) throw errors.contentLengthMissing();
  const size = Number(text);
  if (size <= UPLOAD_LIMITS.most) return size;
  throw errors.largePart({ max_bytes: UPLOAD_LIMITS.most });
}

function mimeOf(c: Context): string {
  const mime = c.req.header("Content-Type") ?? "application/octet-stream";
  if (mime.length <= MIME_CHARS && MIME.test(mime)) return mime;
  throw errors.contentTypeMalformed();
}
