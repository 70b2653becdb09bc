import { MediaError } from "../core/errors.ts";
import type { Storage, StoredInfo } from "../core/ports.ts";
import { MIB } from "../util/bytes.ts";
import type { HttpFile } from "./http/http-reader.ts";

/** What an ingest is given. */
export interface Ingest {
  /** Opens the source, with its limits of size and time, such as `openHttp` bound to its options. */
  open(): Promise<HttpFile>;
  storage: Storage;
  /** Where the copy goes; whatever was there before is replaced whole. */
  key: string;
  /** Content-Type of the copy; default the source's own. */
  mime?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Told now and then how many bytes have come, and of how many (null when unknown); the copy waits for it and fails with it. */
  progress?(received: number, size: number | null): Promise<void> | void;
}

// Often enough for a progress bar, seldom enough to cost nothing.
const REPORT_BYTES = 4 * MIB;

/**
 * Copies a source to storage as a stream, in constant memory, and gives what was stored. Rejects as `openHttp` and its
 * stream do, or with `upload_failed` when storage holds another number of bytes than came.
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
