import type { UploadPart } from "../../src/core/upload.ts";
import type { UploadedPart } from "../media/uploads.ts";
import type { UploadEntry } from "./home.ts";

/** Storage that uploads go to. It rejects with errors of requests only. */
export interface UploadPlace {
  /** Begins an upload; returns its id in the storage, null when the file goes in one request. */
  begin(upload: UploadEntry["upload"]): Promise<string | null>;
  /** Signs the URLs of all parts, good until the upload expires. */
  sign(entry: UploadEntry): Promise<UploadPart[]>;
  /** Assembles the file and returns its ETag; rejects with `request_invalid` when the parts do not fit. */
  complete(entry: UploadEntry, given: readonly UploadedPart[] | undefined): Promise<string>;
  /** Drops what was sent, and where the storage is the service's own the file too. */
  drop(entry: UploadEntry): Promise<void>;
}

/** The key of an upload in managed storage. */
export function uploadKey({ id }: { id: string }): string {
  return `in/${id}`;
}
