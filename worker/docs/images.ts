import { ImageUrl } from "../../src/core/images/signed-image-url.ts";
import { operation } from "./operation.ts";

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

/** `POST /images`. */
export const signImage = operation({
  method: "post",
  path: "/images",
  operationId: "signImage",
  tag: "Images",
  summary: "Sign an image URL",
  description:
    "Returns the URL of a picture in another size, shape or format. The source is fetched, and the picture made, at the first request for it.",
  body: {
    schema: "ImageUrlRequest",
    examples: {
      thumbnail: {
        source: "https://example.com/photo.jpg",
        options: { width: 640, format: "auto" },
        seconds: 86_400,
      },
    },
  },
  answers: {
    200: { description: "The URL.", schema: "ImageUrl", examples: { signed: SIGNED } },
  },
  errors: ["request_invalid", "input_required", "invalid_input", "invalid_options"],
});

/** `GET /image/{options}/{source}`; HEAD is answered too. */
export const getImage = operation({
  method: "get",
  path: "/image/{options}/{source}",
  operationId: "getImage",
  tag: "Images",
  summary: "Fetch a picture in another form",
  description:
    "Serves a picture made of another, by a signed URL or of an origin in the setting `IMAGE_ORIGINS`; needs no API key. The result is stored, and made again when its source changes. If the source fails, the response is 403, 404, 413, 415, 422, 502 or 504 with the kind of its error; while every native encoder that a large picture needs is busy, it is 503.",
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
      description: "Of a signed URL, as it was returned.",
      schema: { type: "string" },
      example,
    })),
  ],
  answers: {
    200: {
      description: "The picture.",
      content: { "image/*": file },
      headers: ["ETag", "Cache-Control", "Cache-Status"],
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
});
