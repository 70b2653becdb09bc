import { open } from "node:fs/promises";
import { createS3Storage, type S3Options } from "../../src/storage/s3/s3.ts";
import { forgetPeaks, peakMb, residentMb } from "../memory.ts";

/** Parts of the uploads that are measured: those that the library has by itself. */
export const S3_PARTS = { part_bytes: 5 * 2 ** 20, parts_at_once: 4 } as const;

/** What one upload took. */
export interface S3Uploaded {
  seconds: number;
  /** Memory of the process when it began, and its peak since. */
  before_mb: number;
  peak_mb: number;
}

interface Order extends S3Options {
  key: string;
  /** Paths of what is uploaded in turn; the last of them is measured. */
  files: string[];
}

// node s3-upload.ts ORDER: puts files under one key and tells what the last took, as JSON.
if (import.meta.main) {
  const { key, files, ...options } = JSON.parse(process.argv[2] ?? "") as Order;
  const storage = createS3Storage({ ...options, ...S3_PARTS, stream_bodies: true });
  const put = async (file: string) => {
    await using handle = await open(file);
    // It reads into memory that the reader brings.
    const bytes = handle.readableWebStream() as ReadableStream<Uint8Array>;
    await storage.write(key, bytes, "video/mp4");
  };
  for (const file of files.slice(0, -1)) await put(file);
  forgetPeaks([process.pid]);
  const before_mb = residentMb([process.pid]);
  const started = performance.now();
  await put(files.at(-1) ?? "");
  const seconds = (performance.now() - started) / 1000;
  console.log(JSON.stringify({ seconds, before_mb, peak_mb: peakMb([process.pid]) } satisfies S3Uploaded));
}
