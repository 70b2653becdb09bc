import type { StoredInfo } from "../../src/runs/ports.ts";
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
