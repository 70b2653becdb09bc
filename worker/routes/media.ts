import type { Context } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import { getMedia } from "../docs/service.ts";
import type { Api } from "../http/context.ts";
import { answerMedia } from "../media/answer.ts";
import { dropUpload, receiveBytes, receiveOrder } from "../media/receive.ts";
import type { Services } from "../services.ts";

const FORBIDDEN = "The media URL is not one of ours or has expired.";

/** Adds the routes of media, open to whoever has a signed URL: one to read, one to write for encoders of this service, which the document leaves out. */
export function addMediaRoutes(app: Api, services: Services): void {
  const { signer, media, uploads, now } = services;
  // A key has slashes, which a path parameter of OpenAPI cannot say.
  app.openAPIRegistry.registerPath(getMedia);
  app.get("/media/*", async (c) => {
    const grant = await signer.open(c.req.url);
    if (!grant) throw new MediaError("forbidden", FORBIDDEN);
    return answerMedia(c, media, grant, now());
  });

  const toWrite = async (c: Context): Promise<string> => {
    const grant = await signer.openWrite(c.req.url);
    if (!grant) throw new MediaError("forbidden", FORBIDDEN);
    const run_id = grant.key.split("/")[1] ?? "";
    // An encoder that was given up must not write over what another has finished.
    if (await services.goesOn(run_id)) return grant.key;
    throw new MediaError("forbidden", "The run is over; nothing more can be put into its folder.");
  };
  app.put("/media/*", async (c) => receiveBytes(c, uploads, await toWrite(c)));
  app.post("/media/*", async (c) => receiveOrder(c, uploads, await toWrite(c)));
  app.delete("/media/*", async (c) => dropUpload(c, uploads, await toWrite(c)));
}
