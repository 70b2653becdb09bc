import type { Context } from "hono";
import type { Storage, StoredInfo } from "../../src/runs/ports.ts";
import { errors } from "../errors.ts";
import { isFresh, isSameVersion, parseRange } from "./range.ts";
import type { Grant } from "./signer.ts";

/** The part of a storage that media are served from. */
export type MediaReader = Pick<Storage, "head" | "read">;

/** Answers GET or HEAD of an object: whole, a range of it, or that the client's copy is still good; throws `media_not_found`. */
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
  const wanted = isSameVersion(c.req.header("If-Range"), etag) ? c.req.header("Range") : undefined;
  const range = parseRange(wanted, info.size);
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
    // A stored file is the work of strangers: should a browser open it as a page, it can do nothing.
    "Content-Security-Policy":
      "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
  });
}

// Only what a browser plays or shows is shown in place; SVG can hold script.
function disposition(key: string, mime: string): string {
  const shown = /^(video|audio|image)\//.test(mime) && !mime.startsWith("image/svg");
  const name = (key.split("/").at(-1) ?? "").replaceAll(/[^\w.-]/g, "_");
  return `${shown ? "inline" : "attachment"}; filename="${name}"`;
}
