import type { Env } from "../env.ts";
import { createR2Uploads } from "../media/r2-uploads.ts";
import { createPageUploads, type PageUploads } from "./page-uploads.ts";
import { createPartSigner } from "./part-signer.ts";
import { createPlaceOf } from "./place-of.ts";

/** Creates the uploads of pages from the bindings of the Worker. */
export function createPageUploadsOf(env: Env): PageUploads {
  const { settings } = env;
  const now = () => Date.now();
  return createPageUploads({
    home: (id) => env.UPLOAD.getByName(id),
    place: createPlaceOf(env),
    uploads: createR2Uploads(env.MEDIA),
    signer: createPartSigner(settings.MEDIA_SIGNING_KEY, now),
    max_bytes: settings.MAX_INPUT_BYTES,
    kept_seconds: settings.MEDIA_TTL,
    now,
  });
}
