import { MediaError } from "../core/errors.ts";
import type { Storage, StoredInfo } from "../core/ports.ts";
import { MIB } from "../util/bytes.ts";
import type { HttpFile } from "./http/reader.ts";

export interface Ingest {
  /** Opens the source with its limits of size and time, for example `openHttp` with bound options. */
  open(): Promise<HttpFile>;
  storage: Storage;
  /** Where to store the copy; an existing object is replaced as a whole. */
  key: string;
  /** Content-Type of the copy. Default: the source's own. */
  mime?: string | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Called from time to time with the bytes received and the total (null when unknown); the copy waits for it and fails with
   * it.
   */
  progress?(received: number, size: number | null): Promise<void> | void;
}

// Often enough for a progress bar, at no measurable cost.
const REPORT_BYTES = 4 * MIB;

/**
 * Streams a source to storage in constant memory and returns what was stored. Rejects as `openHttp` and its stream do, or
 * with `upload_failed` when the stored size differs from the bytes received.
 */
export async function runIngest({ open, storage, key, mime, signal, progress }: Ingest): Promise<StoredInfo> {
  signal?.throwIfAborted();
  const file = await open();
  try {
    let received = 0;
    let reported = 0;
    const body = file.stream(async (bytes) => {
      signal?.throwIfAborted();
      received = bytes;
      if (received - reported < REPORT_BYTES) return;
      reported = received;
      await progress?.(received, file.size);
    });
    const info = await storage.write(key, body, mime ?? file.mime ?? "application/octet-stream");
    if (info.size !== received || (file.size !== null && info.size !== file.size)) {
      throw new MediaError("upload_failed", `Of ${received} bytes, ${info.size} were stored.`);
    }
    await progress?.(received, file.size);
    return info;
  } finally {
    await file.close();
  }
}
