import { MediaError } from "../../src/media/errors.ts";
import type { Storage } from "../../src/runs/ports.ts";
import { partSizes } from "../../src/runs/upload.ts";
import { errors } from "../errors.ts";
import { UPLOAD_LIMITS, type Uploads } from "../media/uploads.ts";
import type { PartGrant, PartSigner } from "./part-signer.ts";
import { type UploadHome, type UploadPlace, uploadKey } from "./place.ts";

/** What uploads to managed storage are built on. */
export interface ManagedNeeds {
  uploads: Uploads;
  media: Pick<Storage, "head" | "clear">;
  signer: PartSigner;
  home(id: string): UploadHome;
}

/** Managed storage as a place for uploads: parts come in through the service, by URLs that it signs. A file in one piece is one of one part, so that it appears with its completion only. */
export function createManagedPlace({ uploads, media, signer, home }: ManagedNeeds): UploadPlace {
  return {
    begin: (upload) => uploads.begin(uploadKey(upload), upload.content_type),
    sign({ upload }) {
      const sizes = partSizes(upload.size, UPLOAD_LIMITS.most);
      // A part has no type of its own, as pages send none with a piece of a file.
      const content_type = sizes.length === 1 ? upload.content_type : "";
      const headers: Record<string, string> = content_type ? { "content-type": content_type } : {};
      // The part's URL begins as that of the file does.
      const base = upload.url.slice(0, upload.url.lastIndexOf(`/uploads/${upload.id}/`));
      const grant = (part: number, size: number): PartGrant => ({ id: upload.id, part, size, content_type });
      return Promise.all(
        sizes.map(async (size, index) => {
          const part = index + 1;
          const url = await signer.sign(grant(part, size), upload.expires_at / 1000, base);
          return { part, size, url, headers };
        }),
      );
    },
    async complete(entry, given) {
      const { upload, begun } = entry;
      const key = uploadKey(upload);
      const parts = await home(upload.id).parts();
      const missing = partSizes(upload.size, UPLOAD_LIMITS.most).length - parts.length;
      if (missing > 0) throw errors.partsMissing({ count: missing });
      if (
        given?.some(({ etag }, index) => bare(etag) !== parts[index]?.etag) ||
        (given?.length ?? parts.length) !== parts.length
      )
        throw errors.partsDiffer();
      try {
        return (await uploads.resume(key, begun ?? "").complete(parts)).etag;
      } catch (thrown) {
        // It may be done, and the answer was lost.
        const info = await media.head(key);
        if (info?.size === upload.size) return info.etag;
        throw thrown;
      }
    },
    async drop({ upload, begun }) {
      if (upload.status === "waiting" && begun !== null) await abort(uploads, uploadKey(upload), begun);
      await media.clear(uploadKey(upload));
    },
  };
}

// Completed or dropped, it is no longer an upload.
async function abort(uploads: Uploads, key: string, begun: string): Promise<void> {
  try {
    await uploads.resume(key, begun).abort();
  } catch (thrown) {
    if (!(thrown instanceof MediaError && thrown.kind === "media_not_found")) throw thrown;
  }
}

/** Returns an ETag without its quotes. */
export function bare(etag: string): string {
  return etag.replaceAll('"', "");
}
