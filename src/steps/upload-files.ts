import { MediaError } from "../core/errors.ts";
import type { StoredInfo } from "../core/ports.ts";
import type { FileBody } from "../storage/http/writer.ts";
import type { S3Bucket } from "../storage/s3/bucket.ts";
import { putS3File, type UploadMemory } from "../storage/s3/upload.ts";
import { sideBySide } from "../util/async.ts";

export interface OutputFile extends FileBody {
  /** Path relative to the output folder. */
  name: string;
  mime: string;
}

/** An output, and where to upload it. */
export interface UploadFiles {
  files: readonly OutputFile[];
  /** Name of the file to open: the only one, or the master playlist, which is uploaded last. */
  main: string;
  bucket: S3Bucket;
  /** Key of the main file; when it ends in a slash, the file's name is appended. The other files go beside it. */
  key: string;
  signal: AbortSignal;
  /**
   * Returns the upload memory of a file; files already uploaded are not sent again. Without it, a failed file leaves nothing
   * behind.
   */
  memory?(name: string): UploadMemory;
  /** Files up to this many bytes go in one request; see `putS3File`. */
  singleBytes?: number;
  /** Receives the uploaded share, 0 to 1. */
  onProgress?(share: number): void;
}

export interface Uploaded {
  /** The main file's. */
  info: StoredInfo;
  url: string;
  urlOf(name: string): string;
}

const FILES_AT_ONCE = 4;

/**
 * Uploads the files of an output to a bucket, those that the main one refers to before it. Rejects as writes to S3 storage
 * do.
 */
export async function uploadFiles(upload: UploadFiles): Promise<Uploaded> {
  const { files, bucket, key, signal, memory, singleBytes, onProgress } = upload;
  const main = files.find(({ name }) => name === upload.main);
  if (!main) throw new MediaError("upload_failed", "The encoded file is no longer in storage.");
  const main_key = key.endsWith("/") ? key + main.name : key;
  const folder = main_key.slice(0, main_key.lastIndexOf("/") + 1);
  const keyOf = (name: string) => (name === main.name ? main_key : folder + name);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const sent = new Map<string, number>();
  const tell = (name: string, bytes: number) => {
    sent.set(name, bytes);
    if (total > 0) onProgress?.([...sent.values()].reduce((sum, each) => sum + each, 0) / total);
  };

  async function put(file: OutputFile): Promise<StoredInfo> {
    const remembered = memory?.(file.name);
    const before = ((await remembered?.get("done")) ?? null) as StoredInfo | null;
    const onProgress = (bytes: number) => tell(file.name, bytes);
    const info =
      before ??
      (await putS3File(bucket, keyOf(file.name), file, file.mime, {
        ...{ signal, onProgress },
        ...(remembered && { memory: remembered }),
        ...(singleBytes !== undefined && { singleBytes }),
      }));
    if (!before) await remembered?.put("done", info);
    tell(file.name, file.size);
    return info;
  }

  const others = files.filter((file) => file !== main);
  await sideBySide(others, FILES_AT_ONCE, async (file) => void (await put(file)));
  const info = await put(main);
  const urlOf = (name: string) => `s3://${bucket.name}/${keyOf(name)}`;
  return { info, url: urlOf(main.name), urlOf };
}
