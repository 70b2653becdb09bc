import { MediaError } from "../../src/core/errors.ts";
import { getMedia } from "../docs/service.ts";
import type { Api } from "../http/context.ts";
import { answerMedia } from "../media/answer.ts";
import type { Services } from "../services.ts";

/** Adds the route of media, open to whoever has a signed URL. */
export function addMediaRoutes(app: Api, { signer, media, now }: Services): void {
  // A key has slashes, which a path parameter of OpenAPI cannot say.
  app.openAPIRegistry.registerPath(getMedia);
  app.get("/media/*", async (c) => {
    const grant = await signer.open(c.req.url);
    if (!grant) throw new MediaError("forbidden", "The media URL is not one of ours or has expired.");
    return answerMedia(c, media, grant, now());
  });
}
