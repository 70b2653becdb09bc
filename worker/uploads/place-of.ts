import { createConnections } from "../connections/connections.ts";
import { createSealOf } from "../connections/seal-of.ts";
import type { Env } from "../env.ts";
import { createR2Uploads } from "../media/r2-uploads.ts";
import { createOutsideOf } from "../network/outside-of.ts";
import { createR2Storage } from "../network/r2-storage.ts";
import type { UploadEntry } from "./home.ts";
import { createManagedPlace } from "./managed-place.ts";
import { createPartSigner } from "./part-signer.ts";
import type { UploadPlace } from "./place.ts";
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
          uploads: createR2Uploads(env.MEDIA),
          media: createR2Storage(env.MEDIA),
          home: (id) => env.UPLOAD.getByName(id),
          signer,
        })
      : createS3Place(() => connections.open(project, connection_id), outside, now);
}
