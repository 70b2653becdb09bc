import type { Upload, UploadPart } from "../../src/runs/upload.ts";
import type { UploadedPart } from "../media/uploads.ts";

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

/** An upload as it is kept. */
export interface UploadEntry {
  project: string;
  upload: Omit<Upload, "parts">;
  /** Id of the upload in parts, as the storage calls it; null where the file goes in one request. */
  begun: string | null;
}

/** Where one upload is kept, as its UploadObject does. */
export interface UploadHome {
  /** Keeps a new upload, until it expires. */
  create(entry: UploadEntry): Promise<void>;
  get(): Promise<UploadEntry | null>;
  /** Keeps the ETag of a part that was put; false when the upload no longer waits. */
  notePart(part: number, etag: string): Promise<boolean>;
  /** Returns the stored parts, in order. */
  parts(): Promise<UploadedPart[]>;
  /** Makes it `stored`; null when it is gone. */
  store(etag: string, expires_at: number): Promise<UploadEntry | null>;
  /** Forgets it and returns its last state; null when it is already gone. */
  remove(): Promise<UploadEntry | null>;
}
