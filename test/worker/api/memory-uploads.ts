import type { Storage } from "../../../src/runs/ports.ts";
import { readAll, streamOf } from "../../../src/storage/storage.ts";
import { errors } from "../../../worker/errors.ts";
import { UPLOAD_LIMITS, type UploadedPart, type Uploads } from "../../../worker/media/uploads.ts";

interface Open {
  key: string;
  mime: string;
  parts: Map<number, { etag: string; bytes: Uint8Array }>;
}

/** Takes files into a storage, holding in memory those that come in parts: for tests. */
export function createMemoryUploads(storage: Pick<Storage, "write">): Uploads {
  const open = new Map<string, Open>();
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
      const find = (): Open => {
        const found = open.get(id);
        if (found?.key === key) return found;
        throw errors.multipartNotFound();
      };
      return {
        async part(number, body, size) {
          const { parts } = find();
          const part = { etag: `part-${++count}`, bytes: await readExactly(body, size) };
          parts.set(number, part);
          return part.etag;
        },
        async complete(named) {
          const upload = find();
          const bytes = join(upload, named);
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

function join({ parts }: Open, named: readonly UploadedPart[]): Uint8Array {
  const pieces = named.map(({ part, etag }) => {
    const found = parts.get(part);
    if (found?.etag === etag) return found.bytes;
    throw errors.partUnknown();
  });
  const size = pieces[0]?.length;
  for (const piece of pieces.slice(0, -1)) {
    if (piece.length < UPLOAD_LIMITS.part_min) {
      throw errors.partTooSmall();
    }
    if (piece.length !== size) throw errors.partSizesDiffer();
  }
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

async function readExactly(body: ReadableStream<Uint8Array>, size: number): Promise<Uint8Array> {
  const bytes = await readAll(body);
  if (bytes.length === size) return bytes;
  throw errors.uploadNotStored();
}
