import type { Context } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import { parseUploadCompletion, parseUploadRequest, type Upload } from "../../src/core/upload.ts";
import * as docs from "../docs/uploads.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import { creating } from "../idempotency/creating.ts";
import { UPLOAD_LIMITS } from "../media/uploads.ts";
import type { Services } from "../services.ts";

/**
 * Adds the routes of uploads: those that need a key, and the one that pages put parts to by signed URLs, which the document
 * leaves out.
 */
export function addUploadRoutes(app: Api, services: Services): void {
  const { page_uploads, connections, settings } = services;

  async function connectionFor(project: string, wanted: string | undefined): Promise<string> {
    const found =
      wanted === undefined ? await connections.getDefault(project) : await connections.get(project, wanted);
    if (found) return found.id;
    if (wanted !== undefined)
      throw new MediaError("connection_not_found", "There is no connection with that id.", {
        param: "connection_id",
      });
    const message = "An S3 output needs a stored connection, and there is none: POST /connections makes one.";
    throw new MediaError("connection_required", message, { param: "output" });
  }

  serve(
    app,
    docs.createUpload,
    creating<Upload>(services, {
      sort: "upload",
      async make(request, c, id) {
        const wish = parseUploadRequest(await readJson(request));
        const project = c.get("project");
        const connection_id =
          wish.output === undefined ? null : await connectionFor(project, wish.connection_id);
        return page_uploads.create(project, { id, request: wish, connection_id, base: baseUrl(c, settings) });
      },
      find: (project, id) => page_uploads.get(project, id).catch(() => null),
    }),
  );

  serve(app, docs.getUpload, async (c) => c.json(await page_uploads.get(c.get("project"), idOf(c))));

  serve(app, docs.completeUpload, async (c) => {
    const { parts } = parseUploadCompletion(await readJson(c.req.raw));
    return c.json(await page_uploads.complete(c.get("project"), idOf(c), parts));
  });

  serve(app, docs.deleteUpload, async (c) => {
    await page_uploads.remove(c.get("project"), idOf(c));
    return c.body(null, 204);
  });

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
      await drop(body);
      throw thrown;
    });
    c.header("ETag", `"${etag}"`);
    return c.json({ etag });
  });
}

// A page that is still sending does not read why it was refused.
async function drop(body: ReadableStream<Uint8Array>): Promise<void> {
  if (body.locked) return;
  let left: number = UPLOAD_LIMITS.most;
  for await (const { length } of body) {
    left -= length;
    if (left < 0) return;
  }
}

function idOf(c: Context): string {
  return c.req.param("id") ?? "";
}
