import { operation } from "./operation.ts";

const file = { schema: { type: "string", format: "binary" } };

/** `GET /media/{grant}/{key}`; HEAD is answered too. */
export const getMedia = operation({
  method: "get",
  path: "/media/{grant}/{key}",
  operationId: "getMedia",
  tag: "Media",
  summary: "Fetch an output",
  description:
    "Serves a file by the signed URL in the `output` of a task or step; needs no API key. Answers HEAD, single byte ranges, `If-Range` and `If-None-Match`. The signature covers the folder, so that relative URLs inside a playlist work.",
  open: true,
  parameters: [
    {
      name: "grant",
      in: "path",
      required: true,
      description: "Signature and expiry, `<signature>.<unix seconds>`.",
      schema: { type: "string" },
      example: "XrLQZS8Yh0pV3mJ6tB1nC7uKfA2dWgE4iR9oMxTsPqk.1795771800",
    },
    {
      name: "key",
      in: "path",
      required: true,
      description: "Key of the file in storage, which has slashes.",
      schema: { type: "string" },
      example: "out/task_01kaggm8q0fzr2n5v3x7c1d9ja/clip.webm",
    },
    {
      name: "Range",
      in: "header",
      description: "One byte range.",
      schema: { type: "string", examples: ["bytes=0-1023"] },
    },
  ],
  answers: {
    200: { description: "The file.", content: { "*/*": file }, headers: ["ETag", "Accept-Ranges"] },
    206: {
      description: "A range of the file.",
      content: { "*/*": file },
      headers: ["ETag", "Content-Range"],
    },
    304: { description: "The client's copy is still good.", headers: ["ETag"] },
    416: { description: "The range lies outside the file.", headers: ["Content-Range"] },
  },
  errors: ["forbidden", "media_not_found"],
});

/** `GET /health`. */
export const getHealth = operation({
  method: "get",
  path: "/health",
  operationId: "getHealth",
  tag: "Service",
  summary: "Check the service's health",
  open: true,
  answers: {
    200: { description: "It does.", schema: "Health", examples: { ok: { status: "ok" } } },
  },
  errors: [],
});

/** `GET /openapi.json`. */
export const getDocument = operation({
  method: "get",
  path: "/openapi.json",
  operationId: "getDocument",
  tag: "Service",
  summary: "Read this document",
  open: true,
  answers: {
    200: {
      description: "The OpenAPI 3.1 document of the service.",
      content: { "application/json": { schema: { type: "object" } } },
    },
  },
  errors: [],
});

/** `GET /docs`. */
export const getDocs = operation({
  method: "get",
  path: "/docs",
  operationId: "getDocs",
  tag: "Service",
  summary: "Read the reference page",
  open: true,
  answers: {
    200: { description: "The page.", content: { "text/html": { schema: { type: "string" } } } },
  },
  errors: [],
});
