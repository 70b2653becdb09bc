import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type ErrorKind, MediaError, toMediaError } from "../../src/core/errors.ts";
import {
  IMAGE_URL_SECONDS,
  parseImageOptions,
  parseImageUrlRequest,
  writeImageOptions,
} from "../../src/core/images/image-url.ts";
import * as docs from "../docs/images.ts";
import { readJson } from "../http/body.ts";
import { type Api, type ApiEnv, baseUrl } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import type { FoundImage, ImageFound } from "../images/image.ts";
import type { ImageAsk } from "../images/image-signer.ts";
import { negotiate } from "../images/negotiate.ts";
import { isFresh } from "../media/range.ts";
import type { Services } from "../services.ts";

// Errors of making a picture, which answer the request for it.
const STATUS: Partial<Record<ErrorKind, ContentfulStatusCode>> = {
  input_forbidden: 403,
  input_not_found: 404,
  input_too_large: 413,
  input_unsupported: 415,
  input_no_video: 415,
  probe_failed: 415,
  encoder_unavailable: 422,
  encode_failed: 422,
  out_of_memory: 422,
  input_unreachable: 502,
  input_changed: 502,
  upload_failed: 503,
  storage_full: 503,
  worker_lost: 503,
  timeout: 504,
};

// Bears what pictures of allowed origins cost; no key has a project of that name.
const ORIGINS_PROJECT = "image:origins";
const UNSIGNED =
  "The image URL is not signed, is signed otherwise or has expired, and its source is of no origin that is allowed without; POST /images signs one.";

// RFC 9211.
const CACHE_STATUS: Readonly<Record<ImageFound, string>> = {
  hit: "hit",
  revalidated: "fwd=stale; fwd-status=304",
  stored: "fwd=miss; stored",
  collapsed: "fwd=miss; collapsed",
};

/** Adds the routes of image URLs: one to sign, which needs a key, and one to show pictures. */
export function addImageRoutes(app: Api, services: Services): void {
  const { signer, image_signer, images, outside, settings, now } = services;

  serve(app, docs.signImage, async (c) => {
    const {
      source,
      options = {},
      seconds = IMAGE_URL_SECONDS.default,
    } = parseImageUrlRequest(await readJson(c.req.raw));
    const expires = Math.floor(now() / 1000) + seconds;
    const key = await signer.resolve(source);
    if (key === null) await checkSource(source);
    const ask = { options: writeImageOptions(options), source: key ?? source };
    const grant = { ...ask, project: c.get("project"), expires };
    const url = await image_signer.sign(grant, baseUrl(c, settings));
    return c.json({ url, expires_at: expires * 1000 });
  });

  async function checkSource(source: string): Promise<void> {
    const fault = (message: string) =>
      new MediaError("invalid_input", `source: ${message}`, { param: "source" });
    if (!/^https?:/i.test(source)) throw fault("must be an http or https URL.");
    try {
      await outside.guard(source);
    } catch (thrown) {
      throw fault(toMediaError(thrown).message);
    }
  }

  /** Whether a request may be answered: by its signature, or as its source is of an allowed origin. */
  async function admit(ask: ImageAsk, query: URLSearchParams) {
    const grant = await image_signer.check(ask, query);
    if (grant) return { ...grant, origins: null };
    const origins = settings.image_origins ?? [];
    const url = URL.parse(ask.source);
    if (url && origins.includes(url.origin)) return { project: ORIGINS_PROJECT, origins, expires: Infinity };
    throw new MediaError("forbidden", UNSIGNED);
  }

  app.described.push(docs.getImage);
  app.get("/image/*", async (c) => {
    const url = new URL(c.req.url);
    const ask = readPath(url.pathname);
    const { project, origins, expires } = await admit(ask, url.searchParams);
    const options = parseImageOptions(ask.options);
    const auto = options.format === "auto" ? negotiate(c.req.header("Accept")) : null;
    try {
      const image = await images({ source: ask.source, project, origins }, { options, auto });
      return await answer(c, image, { expires, varies: options.format === "auto" });
    } catch (thrown) {
      const status = thrown instanceof MediaError ? STATUS[thrown.kind] : undefined;
      if (!(thrown instanceof MediaError) || status === undefined) throw thrown;
      const { kind, message, param } = thrown;
      const body = { kind, message, ...(param !== undefined && { param }), request_id: c.get("request_id") };
      if (status === 503) c.header("Retry-After", "5");
      return c.json(body, status);
    }
  });

  async function answer(
    c: Context<ApiEnv>,
    { entry, found, body }: FoundImage,
    { expires, varies }: { expires: number; varies: boolean },
  ): Promise<Response> {
    const etag = `"${entry.etag}"`;
    const seconds = Math.min(entry.fresh_until, expires * 1000) - now();
    const headers = new Headers({
      ETag: etag,
      "Cache-Control": `public, max-age=${Math.max(0, Math.floor(seconds / 1000))}`,
      "Cache-Status": `framewright; ${CACHE_STATUS[found]}`,
      "Cross-Origin-Resource-Policy": "cross-origin",
      ...(varies && { Vary: "Accept" }),
    });
    if (isFresh(c.req.header("If-None-Match"), etag)) return new Response(null, { status: 304, headers });
    headers.set("Content-Type", entry.mime);
    headers.set("Content-Length", String(entry.size));
    return new Response(c.req.method === "HEAD" ? null : await body(), { headers });
  }
}

// An encoded URL keeps its own escapes; a router would decode them once more.
function readPath(pathname: string): ImageAsk {
  const [, options = "", source = ""] = /^\/image\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
  try {
    const ask = { options: decodeURIComponent(options), source: decodeURIComponent(source) };
    if (ask.options !== "" && ask.source !== "") return ask;
  } catch {
    // Malformed escapes.
  }
  throw new MediaError("request_invalid", "An image URL is /image/<options>/<source>, the source encoded.");
}
