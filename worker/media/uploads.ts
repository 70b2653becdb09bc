import type { StoredInfo } from "../../src/runs/ports.ts";
import type { UploadPart, Upload as UploadRecord } from "../../src/runs/upload.ts";
import { MIB } from "../../src/util/bytes.ts";

/** Limits of uploads: bytes of one request, bytes of any part but the last, parts of a file. */
export const UPLOAD_LIMITS = { max: 32 * MIB, part_min: 5 * MIB, parts: 10_000 } as const;

/** A part of a file, numbered from 1. */
export interface UploadedPart {
  part: number;
  etag: string;
}

/** A multipart upload; the parts may arrive in any order. */
export interface Upload {
  /** Stores a part of exactly `size` bytes, replacing one with the same number, and returns its ETag. Stores nothing of a truncated body. */
  part(number: number, body: ReadableStream<Uint8Array>, size: number): Promise<string>;
  /** Assembles the file from its parts, which have equal sizes except the last; rejects with `request_invalid` when they do not fit. */
  complete(parts: readonly UploadedPart[]): Promise<StoredInfo>;
  /** Removes the parts. */
  abort(): Promise<void>;
}

/**
 * Stores files in constant memory. Rejects with `media_not_found` for an upload that does not exist, and with `storage_full` or
 * `service_unavailable` when storage fails.
 */
export interface Uploads {
  /** Stores a file of exactly `size` bytes, and nothing of a truncated body. */
  put(key: string, body: ReadableStream<Uint8Array>, size: number, mime: string): Promise<StoredInfo>;
  /** Begins a multipart upload and returns its id. */
  begin(key: string, mime: string): Promise<string>;
  /** Returns the upload with that id, which may not exist. */
  resume(key: string, upload: string): Upload;
}

/** The destination of uploads. Rejects only with errors of requests. */
export interface UploadPlace {
  /** Begins an upload; returns its id in the storage, null when the file goes in one request. */
  begin(upload: UploadEntry["upload"]): Promise<string | null>;
  /** Signs the URLs of all parts, valid until the upload expires. */
  sign(entry: UploadEntry): Promise<UploadPart[]>;
  /** Assembles the file and returns its ETag; rejects with `request_invalid` when the parts do not fit. */
  complete(entry: UploadEntry, parts: readonly UploadedPart[] | undefined): Promise<string>;
  /** Removes the parts, and the file when it is in managed storage. */
  drop(entry: UploadEntry): Promise<void>;
}

/** Returns the key of an upload in managed storage. */
export function uploadKey({ id }: { id: string }): string {
  return `in/${id}`;
}

/** A stored upload. */
export interface UploadEntry {
  project: string;
  upload: Omit<UploadRecord, "parts">;
  /** Id of the multipart upload in its storage; null when the file goes in one request. */
  begun: string | null;
}

/** The record of one upload, as its UploadObject stores it. */
export interface UploadHome {
  /** Stores a new upload until it expires. */
  create(entry: UploadEntry): Promise<void>;
  get(): Promise<UploadEntry | null>;
  /** Stores the ETag of a part; false when the upload no longer accepts parts. */
  notePart(part: number, etag: string): Promise<boolean>;
  /** Returns the stored parts, in order. */
  parts(): Promise<UploadedPart[]>;
  /** Marks the upload as `stored`; null when it is gone. */
  store(etag: string, expires_at: number): Promise<UploadEntry | null>;
  /** Deletes the record and returns its last state; null when it is already gone. */
  remove(): Promise<UploadEntry | null>;
}
