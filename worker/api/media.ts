import type { Handler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type ErrorKind, MediaError } from "../../src/media/errors.ts";
import { runOf } from "../../src/runs/steps/media-keys.ts";
import * as errors from "../errors.ts";
import type { Api, ApiEnv } from "../http/context.ts";
import { answerMedia, dropUpload, type Receive, receiveBytes, receiveOrder } from "../media/transfer.ts";
import type { Services } from "../services.ts";
import { operation } from "./openapi.ts";

const ERROR_STATUS: Partial<Record<ErrorKind, ContentfulStatusCode>> = {
  input_forbidden: 403,
  input_not_found: 404,
  input_changed: 412,
  input_unreachable: 502,
  timeout: 504,
};
const file = { schema: { type: "string", format: "binary" } };

/** Adds the routes of media at signed URLs: a documented one for reading, and undocumented ones to which the service's encoders write. */
export function addMediaRoutes(app: Api, services: Services): void {
  const { signer, openMedia, uploads, now } = services;
  // A path parameter of OpenAPI cannot contain slashes, and a key does.
  app.described.push(
    operation({
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
    }),
  );
  app.get("/media/*", async (c) => {
    const grant = await signer.open(c.req.url);
    if (!grant) throw errors.mediaUrlInvalid();
    try {
      return await answerMedia(c, openMedia(), grant, now());
    } catch (thrown) {
      const status = thrown instanceof MediaError ? ERROR_STATUS[thrown.kind] : undefined;
      if (!(thrown instanceof MediaError) || status === undefined) throw thrown;
      const { kind, message } = thrown;
      return c.json({ kind, message, request_id: c.get("request_id") }, status);
    }
  });

  const write =
    (receive: Receive): Handler<ApiEnv> =>
    async (c) => {
      const grant = await signer.openWrite(c.req.url);
      if (!grant) throw errors.mediaUrlInvalid();
      // An abandoned encoder must not overwrite the output of the one that replaced it.
      if (!(await services.goesOn(runOf(grant.key)))) {
        throw errors.runOver();
      }
      try {
        return await receive(c, uploads, grant.key);
      } catch (thrown) {
        if (!(thrown instanceof MediaError) || thrown.kind !== "storage_full") throw thrown;
        const { kind, message } = thrown;
        return c.json({ kind, message, request_id: c.get("request_id") }, 507);
      }
    };
  app.put("/media/*", write(receiveBytes));
  app.post("/media/*", write(receiveOrder));
  app.delete("/media/*", write(dropUpload));
}
