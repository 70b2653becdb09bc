import type { Handler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type ErrorKind, MediaError } from "../../src/core/errors.ts";
import { runOf } from "../../src/steps/media-keys.ts";
import { getMedia } from "../docs/service.ts";
import type { Api, ApiEnv } from "../http/context.ts";
import { answerMedia } from "../media/answer.ts";
import { dropUpload, type Receive, receiveBytes, receiveOrder } from "../media/receive.ts";
import type { Services } from "../services.ts";

// What a pinned source may answer instead of its bytes.
const SOURCE_STATUS: Partial<Record<ErrorKind, ContentfulStatusCode>> = {
  input_forbidden: 403,
  input_not_found: 404,
  input_changed: 412,
  input_unreachable: 502,
  timeout: 504,
};
const FORBIDDEN = "The media URL is not one of ours or has expired.";

/** Adds the routes of media, open to every signed URL: one to read, one to write for the encoders of this service, which the document omits. */
export function addMediaRoutes(app: Api, services: Services): void {
  const { signer, openMedia, uploads, now } = services;
  // A key has slashes, which a path parameter of OpenAPI cannot say.
  app.described.push(getMedia);
  app.get("/media/*", async (c) => {
    const grant = await signer.open(c.req.url);
    if (!grant) throw new MediaError("forbidden", FORBIDDEN);
    try {
      return await answerMedia(c, openMedia(), grant, now());
    } catch (thrown) {
      const status = thrown instanceof MediaError ? SOURCE_STATUS[thrown.kind] : undefined;
      if (!(thrown instanceof MediaError) || status === undefined) throw thrown;
      // An error of the run: the encoder that reads its pinned source passes it on.
      const { kind, message } = thrown;
      return c.json({ kind, message, request_id: c.get("request_id") }, status);
    }
  });

  const write =
    (receive: Receive): Handler<ApiEnv> =>
    async (c) => {
      const grant = await signer.openWrite(c.req.url);
      if (!grant) throw new MediaError("forbidden", FORBIDDEN);
      // An encoder that was given up must not write over what another has finished.
      if (!(await services.goesOn(runOf(grant.key)))) {
        throw new MediaError("forbidden", "The run is over; nothing more can be put into its folder.");
      }
      try {
        return await receive(c, uploads, grant.key);
      } catch (thrown) {
        if (!(thrown instanceof MediaError) || thrown.kind !== "storage_full") throw thrown;
        // An error of the run: the encoder passes it on.
        const { kind, message } = thrown;
        return c.json({ kind, message, request_id: c.get("request_id") }, 507);
      }
    };
  app.put("/media/*", write(receiveBytes));
  app.post("/media/*", write(receiveOrder));
  app.delete("/media/*", write(dropUpload));
}
