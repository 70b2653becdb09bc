import type { UploadPart } from "../../src/core/upload.ts";
import type { UploadedPart } from "../media/uploads.ts";
import type { UploadEntry } from "./home.ts";

/** Storage that uploads go to. It rejects with errors of requests only. */
export interface UploadPlace {
  /** Begins an upload; gives its id in the storage, null where the file goes in one request. */
  begin(upload: UploadEntry["upload"]): Promise<string | null>;
  /** Signs the URLs of all parts, good until the upload expires. */
  sign(entry: UploadEntry): Promise<UploadPart[]>;
  /** Makes the file and gives its ETag; rejects with `request_invalid` when what was sent does not make it. */
  complete(entry: UploadEntry, given: readonly UploadedPart[] | undefined): Promise<string>;
  /** Drops what was sent, and where the storage is the service's own the file too. */
  drop(entry: UploadEntry): Promise<void>;
}

/** The key of an upload in managed storage. */
export function uploadKey({ id }: { id: string }): string {
  return `in/${id}`;
}
