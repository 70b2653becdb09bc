import { createConnections } from "../connections/connections.ts";
import { createSealOf } from "../connections/seal-of.ts";
import { createOutsideOf, type Env, mediaBucket, mediaStorage } from "../env.ts";
import { requireQuota } from "../limits/quota.ts";
import { createR2Uploads } from "../media/r2-uploads.ts";
import { createManagedPlace } from "./managed-place.ts";
import { createPageUploads, type PageUploads } from "./page-uploads.ts";
import { createPartSigner } from "./part-signer.ts";
import type { UploadEntry, UploadPlace } from "./place.ts";
import { createS3Place } from "./s3-place.ts";

/** Returns the storage of an upload, from the bindings of the Worker. */
export function createPlaceOf(env: Env): (entry: Pick<UploadEntry, "project" | "upload">) => UploadPlace {
  const now = () => Date.now();
  const connections = createConnections((project) => env.PROJECT.getByName(project), createSealOf(env));
  const outside = createOutsideOf(env);
  const signer = createPartSigner(env.settings.MEDIA_SIGNING_KEY, now);
  return ({ project, upload: { connection_id } }) =>
    connection_id === null
      ? createManagedPlace({
          uploads: createR2Uploads(mediaBucket(env)),
          media: mediaStorage(env),
          home: (id) => env.UPLOAD.getByName(id),
          signer,
        })
      : createS3Place(() => connections.open(project, connection_id), outside, now);
}

/** Creates the uploads of pages from the bindings of the Worker. */
export function createPageUploadsOf(env: Env): PageUploads {
  const { settings } = env;
  const now = () => Date.now();
  return createPageUploads({
    home: (id) => env.UPLOAD.getByName(id),
    place: createPlaceOf(env),
    uploads: createR2Uploads(mediaBucket(env)),
    signer: createPartSigner(settings.MEDIA_SIGNING_KEY, now),
    store: async (project, bytes) =>
      requireQuota(await env.PROJECT.getByName(project).quota.takeStored(bytes)),
    max_bytes: settings.MAX_INPUT_BYTES,
    kept_seconds: settings.MEDIA_TTL,
    now,
  });
}
