import { open } from "node:fs/promises";
import { createS3Storage, type S3Options } from "../../src/storage/s3/s3.ts";
import { forgetPeaks, peakMb, residentMb } from "../memory.ts";

/** Part settings of the measured uploads: the library's defaults. */
export const S3_PARTS = { partBytes: 5 * 2 ** 20, partsAtOnce: 4 } as const;

/** The resources that one upload took. */
export interface S3Uploaded {
  seconds: number;
  /** Memory of the process at the start, and its peak since. */
  before_mb: number;
  peak_mb: number;
}

interface Order extends S3Options {
  key: string;
  /** Paths of the files to upload in turn; the last one is measured. */
  files: string[];
}

// node s3-upload.ts ORDER: uploads files under one key and prints the measurements of the last as JSON.
if (import.meta.main) {
  const { key, files, ...options } = JSON.parse(process.argv[2] ?? "") as Order;
  const storage = createS3Storage({ ...options, ...S3_PARTS, streamBodies: true });
  const put = async (file: string) => {
    await using handle = await open(file);
    // It reads into memory that the reader supplies.
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
