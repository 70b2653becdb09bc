import type { Context } from "hono";
import { z } from "zod";
import type { ByteRange, Storage, StoredInfo } from "../../src/runs/ports.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import type { Grant } from "./signed-urls.ts";
import { UPLOAD_LIMITS, type Upload, type Uploads } from "./uploads.ts";

/** The methods of a storage that serve media. */
export type MediaReader = Pick<Storage, "head" | "read">;

/** Responds to GET or HEAD of an object: with all of it, a range, or 304 when the client's copy is current; throws `media_not_found`. */
export async function answerMedia(
  c: Context,
  media: MediaReader,
  { key, expires }: Grant,
  now: number,
): Promise<Response> {
  const info = await media.head(key);
  if (!info) throw errors.mediaNotFound();
  const headers = headersOf(key, info, Math.max(0, Math.floor(expires - now / 1000)));
  const etag = `"${info.etag}"`;
  if (isFresh(c.req.header("If-None-Match"), etag)) {
    headers.delete("Content-Type");
    return new Response(null, { status: 304, headers });
  }
  if (c.req.method === "HEAD") {
    headers.set("Content-Length", String(info.size));
    return new Response(null, { headers });
  }
  const header = isSameVersion(c.req.header("If-Range"), etag) ? c.req.header("Range") : undefined;
  const range = parseRange(header, info.size);
  if (range === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { "Content-Range": `bytes */${info.size}` } });
  }
  const object = range ? await media.read(key, range) : await media.read(key);
  if (!object) throw errors.mediaNotFound();
  const { start, end } = range ?? { start: 0, end: info.size };
  headers.set("Content-Length", String(end - start));
  if (range) headers.set("Content-Range", `bytes ${start}-${end - 1}/${info.size}`);
  return new Response(object.body, { status: range ? 206 : 200, headers });
}

function headersOf(key: string, info: StoredInfo, maxAge: number): Headers {
  return new Headers({
    "Content-Type": info.mime,
    ETag: `"${info.etag}"`,
    "Accept-Ranges": "bytes",
    "Cache-Control": `private, max-age=${maxAge}`,
    "Content-Disposition": disposition(key, info.mime),
    "Cross-Origin-Resource-Policy": "cross-origin",
    // Stored files are untrusted: opened as a page, they must not run scripts.
    "Content-Security-Policy":
      "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
  });
}

// SVG may contain scripts, so browsers download it.
function disposition(key: string, mime: string): string {
  const inline = /^(video|audio|image)\//.test(mime) && !mime.startsWith("image/svg");
  const name = (key.split("/").at(-1) ?? "").replaceAll(/[^\w.-]/g, "_");
  return `${inline ? "inline" : "attachment"}; filename="${name}"`;
}

/** Reads a Range header for an object of `size` bytes: one range, `unsatisfiable`, or null to send the whole (https://www.rfc-editor.org/rfc/rfc9110#section-14). */
export function parseRange(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  // The RFC permits the whole object in response to several ranges or another unit.
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "");
  if (!match) return null;
  const [, first = "", last = ""] = match;
  if (first === "") {
    if (last === "") return null;
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return null;
  return start >= size ? "unsatisfiable" : { start, end };
}

/** Whether If-None-Match names the current version, so that the response is 304. */
export function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}

/** Whether a range may be sent: If-Range is absent, or names exactly this version. */
export function isSameVersion(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange === etag;
}

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

/** Handles an upload request for the object with that key. */
export type Receive = (c: Context, uploads: Uploads, key: string) => Promise<Response>;

/** Stores a file of stated length, or one part of it when the query has `upload` and `part`. */
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

/** Begins a multipart upload with `?uploads`, or completes `?upload=…` with the parts that the body lists. */
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

/** Aborts `?upload=…` and removes its parts. */
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
  if (size <= UPLOAD_LIMITS.max) return size;
  throw errors.largePart({ max_bytes: UPLOAD_LIMITS.max });
}

function mimeOf(c: Context): string {
  const mime = c.req.header("Content-Type") ?? "application/octet-stream";
  if (mime.length <= MIME_CHARS && MIME.test(mime)) return mime;
  throw errors.contentTypeMalformed();
}
