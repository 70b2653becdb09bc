import type { Context } from "hono";
import { toMediaError } from "../../src/media/errors.ts";
import {
  IMAGE_URL_SECONDS,
  ImageUrl,
  ImageUrlRequest,
  parseImageOptions,
  parseImageUrlRequest,
  writeImageOptions,
} from "../../src/media/image-url.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Api, type ApiEnv, baseUrl, serve } from "../http/context.ts";
import { answerWorkError } from "../http/errors.ts";
import { type ImageOutcome, type ImageResult, negotiate } from "../images/image.ts";
import type { ImageRequest } from "../media/signed-urls.ts";
import { isFresh } from "../media/transfer.ts";
import type { Services } from "../services.ts";
import { operation } from "./openapi.ts";

const file = { schema: { type: "string", format: "binary" } };
const GRANT = {
  project: "shop",
  expires: "1795771800",
  signature: "XrLQZS8Yh0pV3mJ6tB1nC7uKfA2dWgE4iR9oMxTsPqk",
};
const SIGNED = ImageUrl.parse({
  url: `https://api.example/image/w=640,f=auto/https%3A%2F%2Fexample.com%2Fphoto.jpg?${new URLSearchParams(GRANT)}`,
  expires_at: 1_795_771_800_000,
});

// The account of pictures of allowed origins; no key's project can have this name.
const ORIGINS_PROJECT = "image:origins";

// RFC 9211.
const CACHE_STATUS: Readonly<Record<ImageOutcome, string>> = {
  hit: "hit",
  revalidated: "fwd=stale; fwd-status=304",
  stored: "fwd=miss; stored",
  collapsed: "fwd=miss; collapsed",
};

/** Adds the routes of image URLs: one to sign, which needs a key, and one to show pictures. */
export function addImageRoutes(app: Api, services: Services): void {
  const { signer, image_signer, images, outside, settings, now } = services;

  serve(
    app,
    operation({
      method: "post",
      path: "/images",
      operationId: "signImage",
      tag: "Images",
      summary: "Sign an image URL",
      description:
        "Returns the URL of a picture in another size, shape or format. The source is fetched, and the picture made, at the first request for it.",
      body: {
        schema: ImageUrlRequest,
        examples: {
          thumbnail: {
            source: "https://example.com/photo.jpg",
            options: { width: 640, format: "auto" },
            seconds: 86_400,
          },
        },
      },
      answers: {
        200: { description: "The URL.", schema: ImageUrl, examples: { signed: SIGNED } },
      },
      errors: ["request_invalid", "input_required", "invalid_input", "invalid_options"],
    }),
    async (c) => {
      const {
        source,
        options = {},
        seconds = IMAGE_URL_SECONDS.default,
      } = parseImageUrlRequest(await readJson(c.req.raw));
      const expires = Math.floor(now() / 1000) + seconds;
      const key = await signer.resolve(source);
      if (key === null) await checkSource(source);
      const grant = {
        options: writeImageOptions(options),
        source: key ?? source,
        project: c.get("project"),
        expires,
      };
      const url = await image_signer.sign(grant, baseUrl(c, settings));
      return c.json({ url, expires_at: expires * 1000 });
    },
  );

  async function checkSource(source: string): Promise<void> {
    if (!/^https?:/i.test(source)) throw errors.imageSourceNotHttp();
    try {
      await outside.guard(source);
    } catch (thrown) {
      throw errors.inputRefused({ param: "source", message: toMediaError(thrown).message });
    }
  }

  async function admit(request: ImageRequest, query: URLSearchParams) {
    const grant = await image_signer.check(request, query);
    if (grant) return { ...grant, origins: null };
    const origins = settings.image_origins ?? [];
    const url = URL.parse(request.source);
    if (url && origins.includes(url.origin)) return { project: ORIGINS_PROJECT, origins, expires: Infinity };
    throw errors.imageUrlUnsigned();
  }

  app.described.push(
    operation({
      method: "get",
      path: "/image/{options}/{source}",
      operationId: "getImage",
      tag: "Images",
      summary: "Fetch a picture in another form",
      description:
        "Serves a picture made of another, by a signed URL or of an origin in the setting `IMAGE_ORIGINS`; needs no API key. The result is stored, and made again when its source changes. If the source cannot be read or encoded, the response carries the kind of that error; while all native encoders that a large picture needs are busy, it is `service_unavailable`.",
      open: true,
      parameters: [
        {
          name: "options",
          in: "path",
          required: true,
          description:
            "`name=value` with commas in between: `w`, `h`, `fit`, `position`, `bg`, `crop`, `rotate`, `flip`, `f` (`auto` by the `Accept` header) and `q` (1 to 100).",
          schema: { type: "string" },
          example: "w=640,f=auto",
        },
        {
          name: "source",
          in: "path",
          required: true,
          description: "URL of the picture, encoded, or the key of an output.",
          schema: { type: "string" },
          example: "https%3A%2F%2Fexample.com%2Fphoto.jpg",
        },
        ...Object.entries(GRANT).map(([name, example]) => ({
          name,
          in: "query" as const,
          description: "Part of a signed URL; send it as it was returned.",
          schema: { type: "string" },
          example,
        })),
      ],
      answers: {
        200: {
          description: "The picture.",
          content: { "image/*": file },
          headers: ["ETag", "Cache-Control", "Cache-Status", "Dropped"],
        },
        304: { description: "The client's copy is still good.", headers: ["ETag", "Cache-Control"] },
      },
      errors: [
        "request_invalid",
        "invalid_options",
        "invalid_format",
        "forbidden",
        "media_not_found",
        "quota_exceeded",
      ],
      works: true,
    }),
  );
  app.get("/image/*", async (c) => {
    const url = new URL(c.req.url);
    const request = readPath(url.pathname);
    const { project, origins, expires } = await admit(request, url.searchParams);
    const options = parseImageOptions(request.options);
    const auto = options.format === "auto" ? negotiate(c.req.header("Accept")) : null;
    try {
      const image = await images({ source: request.source, project, origins }, { options, auto });
      return await answer(c, image, { expires, varies: options.format === "auto" });
    } catch (thrown) {
      return answerWorkError(c, thrown);
    }
  });

  async function answer(
    c: Context<ApiEnv>,
    { entry, outcome, body }: ImageResult,
    { expires, varies }: { expires: number; varies: boolean },
  ): Promise<Response> {
    const etag = `"${entry.etag}"`;
    const seconds = Math.min(entry.fresh_until, expires * 1000) - now();
    const headers = new Headers({
      ETag: etag,
      "Cache-Control": `public, max-age=${Math.max(0, Math.floor(seconds / 1000))}`,
      "Cache-Status": `framewright; ${CACHE_STATUS[outcome]}`,
      "Cross-Origin-Resource-Policy": "cross-origin",
      ...(varies && { Vary: "Accept" }),
      ...(entry.dropped !== undefined && { Dropped: entry.dropped }),
    });
    if (isFresh(c.req.header("If-None-Match"), etag)) return new Response(null, { status: 304, headers });
    headers.set("Content-Type", entry.mime);
    headers.set("Content-Length", String(entry.size));
    return new Response(c.req.method === "HEAD" ? null : await body(), { headers });
  }
}

// The source is an encoded URL with escapes of its own, which a router would decode too.
function readPath(pathname: string): ImageRequest {
  const [, options = "", source = ""] = /^\/image\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
  try {
    const request = { options: decodeURIComponent(options), source: decodeURIComponent(source) };
    if (request.options !== "" && request.source !== "") return request;
  } catch {
    // An escape is malformed.
  }
  throw errors.imageUrlMalformed();
}
