import type { Storage } from "../../../src/runs/ports.ts";
import { readAll, streamOf } from "../../../src/storage/storage.ts";
import * as errors from "../../../worker/errors.ts";
import { UPLOAD_LIMITS, type UploadedPart, type Uploads } from "../../../worker/media/uploads.ts";

interface OpenUpload {
  key: string;
  mime: string;
  parts: Map<number, { etag: string; bytes: Uint8Array }>;
}

/** Stores files in a storage, with the parts of unfinished uploads in memory: for tests. */
export function createMemoryUploads(storage: Pick<Storage, "write">): Uploads {
  const open = new Map<string, OpenUpload>();
  let count = 0;
  return {
    async put(key, body, size, mime) {
      return storage.write(key, streamOf(await readExactly(body, size)), mime);
    },
    async begin(key, mime) {
      const id = `upload-${++count}`;
      open.set(id, { key, mime, parts: new Map() });
      return id;
    },
    resume(key, id) {
      const find = (): OpenUpload => {
        const upload = open.get(id);
        if (upload?.key === key) return upload;
        throw errors.multipartNotFound();
      };
      return {
        async part(number, body, size) {
          const { parts } = find();
          const part = { etag: `part-${++count}`, bytes: await readExactly(body, size) };
          parts.set(number, part);
          return part.etag;
        },
        async complete(listed) {
          const upload = find();
          const bytes = join(upload, listed);
          open.delete(id);
          return storage.write(key, bytes, upload.mime);
        },
        async abort() {
          find();
          open.delete(id);
        },
      };
    },
  };
}

function join({ parts }: OpenUpload, listed: readonly UploadedPart[]): Uint8Array {
  const blocks = listed.map(({ part, etag }) => {
    const stored = parts.get(part);
    if (stored?.etag === etag) return stored.bytes;
    throw errors.partUnknown();
  });
  const size = blocks[0]?.length;
  for (const block of blocks.slice(0, -1)) {
    if (block.length < UPLOAD_LIMITS.part_min) {
      throw errors.partTooSmall();
    }
    if (block.length !== size) throw errors.partSizesDiffer();
  }
  const whole = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    whole.set(block, at);
    at += block.length;
  }
  return whole;
}

async function readExactly(body: ReadableStream<Uint8Array>, size: number): Promise<Uint8Array> {
  const bytes = await readAll(body);
  if (bytes.length === size) return bytes;
  throw errors.uploadNotStored();
}
