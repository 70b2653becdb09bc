import { MediaError } from "../../core/errors.ts";
import type { ByteReader, Storage } from "../../core/ports.ts";
import { type Inputs, type OpenInput, openStored, watched } from "../../runs/steps/inputs.ts";
import { type HttpFile, openHttp } from "../../storage/http/reader.ts";
import { createBlobReader } from "../../storage/readers.ts";
import { openS3 } from "../../storage/s3/objects.ts";
import { parseS3Url } from "../../storage/s3/s3-connection.ts";
import type { Connections } from "../connections.ts";
import type { InputFiles } from "./input-files.ts";
import { furtherOfFile, isOpfsPath, type LocalUrls, openOpfsPath, runOfFile } from "./local-urls.ts";

export interface LocalInputTools {
  /** The visitor's file that the run works on, and its URL; null when the input is something else. */
  own: { url: string; blob: Blob } | null;
  files: InputFiles;
  storage: Storage;
  urls: LocalUrls;
  connections: Connections;
  open(key: string): Promise<ByteReader>;
}

// Largest file that is downloaded into the origin's storage, and the time limit.
const MAX_BYTES = 5e10;
const TIMEOUTS = { totalMs: 6 * 3_600_000, headersMs: 20_000, idleMs: 30_000 };

/**
 * Creates the inputs of a run: visitors' files, paths in the origin's file system, outputs of other runs, and URLs that this
 * page may read.
 */
export function createLocalInputs({ own, files, storage, urls, connections, open }: LocalInputTools): Inputs {
  return {
    async open(url, signal) {
      if (own?.url === url) return openBlob(own.blob, url);
      const other = runOfFile(url);
      if (other !== null) return openBlob(await files.find(other), url);
      if (furtherOfFile(url) !== null) return openBlob(null, url);
      const key = urls.key(url);
      if (key !== null) return openStored(storage, key, url, open);
      if (isOpfsPath(url)) {
        const found = await openOpfsPath(url);
        return openBlob(found && "getFile" in found ? await found.getFile() : found, url);
      }
      const options = {
        fetch: (at: string, init: RequestInit) => fetch(at, { ...init, credentials: "omit" as const }),
        ...{ signal, timeouts: TIMEOUTS, maxBytes: MAX_BYTES },
      };
      const s3 = /^s3:/i.test(url) ? parseS3Url(url) : null;
      const file = s3
        ? await openS3(connections.signer(s3.bucket, null), s3.key, options)
        : // A page cannot follow redirects by hand; the first URL is checked when a run is created.
          await openHttp(url, { ...options, guard: null });
      return { reader: file.reader, mime: file.mime, file };
    },
  };
}

function openBlob(blob: Blob | null, url: string): OpenInput {
  if (!blob) throw new MediaError("input_not_found", "The file no longer exists.");
  const reader = createBlobReader(blob);
  const mime = blob.type || null;
  const file: HttpFile = {
    ...{ url, mime, reader, size: blob.size, etag: null, version: null, ranges: true },
    stream: (watch) => watched(blob.stream(), watch),
    close: async () => {},
  };
  return { reader, mime, file };
}
