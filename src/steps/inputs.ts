import { MediaError } from "../core/errors.ts";
import type { ByteReader, Storage } from "../core/ports.ts";
import type { HttpFile, Watch } from "../storage/http/reader.ts";
import type { Pin } from "../storage/pinned.ts";

export interface Inputs {
  /** Opens a URL that the host can read; rejects as `openHttp` does. */
  open(url: string, signal: AbortSignal): Promise<OpenInput>;
}

export interface OpenInput {
  /** Random access; null when the server does not support ranges and the file must be read whole. */
  reader: ByteReader | null;
  mime: string | null;
  /** The whole file, as `runIngest` takes it. */
  file: HttpFile;
  /** What pins it, so that it need not be copied; null or absent where only a copy stays as it is. */
  pin?: Pin | null;
}

/** Opens a stored object as input with the given reader; rejects with `input_not_found` when it no longer exists. */
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
      "This file no longer exists; outputs are kept for a limited time.",
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

/** Passes bytes through and reports how many have passed, before the last of them. */
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
