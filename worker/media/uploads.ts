import type { StoredInfo } from "../../src/runs/ports.ts";
import type { UploadPart, Upload as UploadRecord } from "../../src/runs/upload.ts";
import { MIB } from "../../src/util/bytes.ts";

/** Bytes that a file put in one piece, or a part of one, may have; a part but the last has at least `part_least`. */
export const UPLOAD_LIMITS = { most: 32 * MIB, part_least: 5 * MIB, parts: 10_000 } as const;

/** A part of a file, numbered from 1. */
export interface UploadedPart {
  part: number;
  etag: string;
}

/** A file on its way in, in parts that may come in any order. */
export interface Upload {
  /**
   * Stores a part of exactly `size` bytes, replacing one of the same number; returns its ETag. Keeps nothing of a truncated body.
   */
  part(number: number, body: ReadableStream<Uint8Array>, size: number): Promise<string>;
  /** Makes the file of its parts, all alike but the last; rejects with `request_invalid` when they do not make one. */
  complete(parts: readonly UploadedPart[]): Promise<StoredInfo>;
  /** Drops the parts. */
  abort(): Promise<void>;
}

/**
 * Takes files in constant memory. An upload that is gone is `media_not_found`; where storage fails it is
 * `storage_full` or `service_unavailable`.
 */
export interface Uploads {
  /** Takes a file of exactly `size` bytes; nothing stays of a body that breaks off. */
  put(key: string, body: ReadableStream<Uint8Array>, size: number, mime: string): Promise<StoredInfo>;
  /** Begins a multipart upload and returns its id. */
  begin(key: string, mime: string): Promise<string>;
  /** Returns the upload of that id, which may not exist. */
  resume(key: string, upload: string): Upload;
}

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
  upload: Omit<UploadRecord, "parts">;
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
