import { MediaError } from "../core/errors.ts";
import type { ByteReader, Storage } from "../core/ports.ts";
import type { HttpFile } from "../storage/http/http-reader.ts";
import type { Watch } from "../storage/http/http-stream.ts";

/** Input media, wherever they are. */
export interface Inputs {
  /** Opens a URL that the host knows how to read; rejects as `openHttp` does. */
  open(url: string, signal: AbortSignal): Promise<OpenInput>;
}

/** Input media, opened. */
export interface OpenInput {
  /** Random access; null when the server has no ranges and the bytes have to be fetched whole. */
  reader: ByteReader | null;
  mime: string | null;
  /** The whole, as `runIngest` takes it. */
  file: HttpFile;
}

/** Opens an object of storage as input, with the reader given; rejects with `input_not_found` when there is none any more. */
export async function openStored(
  storage: Storage,
  key: string,
  url: string,
  openReader: (key: string) => Promise<ByteReader>,
): Promise<OpenInput> {
  const object = await storage.read(key);
  if (!object)
    throw new MediaError(
      "input_not_found",
      "There is no such file any more; outputs are kept for a limited time.",
    );
  const { size, etag, mime, body } = object;
  const reader = await openReader(key);
  const file: HttpFile = {
    url,
    size,
    etag,
    version: etag,
    mime,
    ranges: true,
    reader,
    stream: (watch) => watched(body, watch),
    close: async () => {
      if (!body.locked) await body.cancel();
    },
  };
  return { reader, mime, file };
}

/** Passes bytes on and tells how many have passed, before the last of them go. */
export function watched(body: ReadableStream<Uint8Array>, watch?: Watch): ReadableStream<Uint8Array> {
  if (!watch) return body;
  let passed = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(bytes, controller) {
        passed += bytes.length;
        await watch(passed);
        controller.enqueue(bytes);
      },
    }),
  );
}
