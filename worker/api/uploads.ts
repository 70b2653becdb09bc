import type { Context } from "hono";
import {
  parseUploadCompletion,
  parseUploadRequest,
  Upload,
  UploadCompletion,
  UploadRequest,
} from "../../src/runs/upload.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, serve } from "../http/context.ts";
import { UPLOAD_LIMITS } from "../media/uploads.ts";
import type { Services } from "../services.ts";
import { creationHandler } from "./creation.ts";
import { idParameter, operation } from "./openapi.ts";

const UPLOAD_REQUESTS: Record<string, UploadRequest> = {
  managed: { size: 3_120_400, content_type: "video/mp4", name: "clip.mp4" },
  own_bucket: {
    size: 3_120_400,
    content_type: "video/mp4",
    output: "s3://my-bucket/films/clip.mp4",
    seconds: 600,
  },
};

const ID = "upload_01kaggm8q0fzr2n5v3x7c1d9jb";
const url = (part: number, size: number) =>
  `https://api.example/uploads/${ID}/parts/${part}?size=${size}&expires=1795253400&signature=…`;

/** The example of an upload that waits for its file. */
export const UPLOAD: Upload = {
  id: ID,
  object: "upload",
  status: "waiting",
  name: "clip.mp4",
  size: 3_120_400,
  content_type: "video/mp4",
  url: `https://api.example/uploads/${ID}/clip.mp4`,
  output: null,
  connection_id: null,
  parts: [{ part: 1, size: 3_120_400, url: url(1, 3_120_400), headers: { "content-type": "video/mp4" } }],
  etag: null,
  created_at: 1_795_167_000_000,
  expires_at: 1_795_253_400_000,
};

const UPLOAD_IN_PARTS: Upload = {
  ...UPLOAD,
  size: 20_000_000,
  parts: [
    { part: 1, size: 16_777_216, url: url(1, 16_777_216), headers: {} },
    { part: 2, size: 3_222_784, url: url(2, 3_222_784), headers: {} },
  ],
};

const UPLOAD_STORED: Upload = {
  ...UPLOAD,
  status: "stored",
  parts: [],
  etag: "8d0439b29743e08478cc38663e2bb0f1-1",
  expires_at: 1_795_771_900_000,
};

const UPLOAD_COMPLETIONS: Record<string, UploadCompletion> = {
  with_etags: { parts: [{ part: 1, etag: "8d0439b29743e08478cc38663e2bb0f1" }] },
  ask_the_storage: {},
};

const tag = "Uploads";
const one = idParameter("upload", UPLOAD.id);

/** Adds the routes of uploads: those that need a key, and an undocumented one to which pages put parts at signed URLs. */
export function addUploadRoutes(app: Api, services: Services): void {
  const { page_uploads, connections, settings } = services;

  async function connectionFor(project: string, id: string | undefined): Promise<string> {
    const connection =
      id === undefined ? await connections.getDefault(project) : await connections.get(project, id);
    if (connection) return connection.id;
    if (id !== undefined) throw errors.notFound("connection", { param: "connection_id" });
    throw errors.connectionRequired({ param: "output", user: "output" });
  }

  serve(
    app,
    operation({
      method: "post",
      path: "/uploads",
      operationId: "createUpload",
      creates: true,
      tag,
      summary: "Begin an upload",
      description:
        "Returns URLs with which a page that holds no key sends a file straight to storage: `PUT` each part's `size` bytes to its `url` with its `headers`, in any order, and again after a failure. Each URL is bound to that size and, for a file in one part, to its type. Then complete the upload.",
      body: { schema: UploadRequest, examples: UPLOAD_REQUESTS },
      answers: {
        201: {
          description: "The upload, waiting for its parts.",
          schema: Upload,
          examples: { one_part: UPLOAD, in_parts: UPLOAD_IN_PARTS },
        },
      },
      errors: [
        "request_invalid",
        "invalid_output",
        "connection_required",
        "connection_not_found",
        "payload_too_large",
        "quota_exceeded",
      ],
    }),
    creationHandler<Upload>(services, {
      sort: "upload",
      async create(request, c, id) {
        const upload = parseUploadRequest(await readJson(request));
        const project = c.get("project");
        const connection_id =
          upload.output === undefined ? null : await connectionFor(project, upload.connection_id);
        const base = baseUrl(c, settings);
        return page_uploads.create(project, { id, request: upload, connection_id, base });
      },
      find: (project, id) => page_uploads.get(project, id).catch(() => null),
    }),
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/uploads/{id}",
      operationId: "getUpload",
      tag,
      summary: "Get an upload",
      parameters: one,
      answers: {
        200: {
          description: "The upload, with the URLs of its parts while it waits for them.",
          schema: Upload,
          examples: { waiting: UPLOAD, stored: UPLOAD_STORED },
        },
      },
      errors: ["media_not_found", "connection_not_found", "request_invalid"],
    }),
    async (c) => c.json(await page_uploads.get(c.get("project"), idOf(c))),
  );

  serve(
    app,
    operation({
      method: "post",
      path: "/uploads/{id}/complete",
      operationId: "completeUpload",
      tag,
      summary: "Complete an upload",
      description:
        "Assembles the file from its parts and checks its size; then the upload's `url` is an `input` of tasks. A repeated request returns the same upload.",
      parameters: one,
      body: { schema: UploadCompletion, examples: UPLOAD_COMPLETIONS },
      answers: {
        200: { description: "The upload, stored.", schema: Upload, examples: { stored: UPLOAD_STORED } },
      },
      errors: ["request_invalid", "media_not_found", "connection_not_found", "payload_too_large"],
    }),
    async (c) => {
      const { parts } = parseUploadCompletion(await readJson(c.req.raw));
      return c.json(await page_uploads.complete(c.get("project"), idOf(c), parts));
    },
  );

  serve(
    app,
    operation({
      method: "delete",
      path: "/uploads/{id}",
      operationId: "deleteUpload",
      tag,
      summary: "Discard an upload",
      description:
        "Removes the parts that were sent, and a stored file in managed storage. An object in a bucket of your own stays.",
      parameters: one,
      answers: { 204: { description: "The upload is gone." } },
      errors: ["media_not_found"],
    }),
    async (c) => {
      await page_uploads.remove(c.get("project"), idOf(c));
      return c.body(null, 204);
    },
  );

  app.put("/uploads/:id/parts/:part", async (c) => {
    const length = c.req.header("Content-Length") ?? "";
    const body = c.req.raw.body ?? new Blob([]).stream();
    const put = page_uploads.put({
      url: c.req.url,
      size: /^\d{1,15}$/.test(length) ? Number(length) : null,
      content_type: c.req.header("Content-Type") ?? "",
      body,
    });
    const etag = await put.catch(async (thrown: unknown) => {
      await drain(body);
      throw thrown;
    });
    c.header("ETag", `"${etag}"`);
    return c.json({ etag });
  });
}

// A page reads the refusal only after it has sent its whole body.
async function drain(body: ReadableStream<Uint8Array>): Promise<void> {
  if (body.locked) return;
  let remaining: number = UPLOAD_LIMITS.max;
  for await (const { length } of body) {
    remaining -= length;
    if (remaining < 0) return;
  }
}

function idOf(c: Context): string {
  return c.req.param("id") ?? "";
}
