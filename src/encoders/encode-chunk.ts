import { MediaError, toMediaError } from "../core/errors.ts";
import type { Chunk } from "../plan/plan.ts";
import type { EncodeProgress } from "./encode-progress.ts";
import type { EncodedFile, Encoder, Written } from "./encoder.ts";
import type { EncodeRun } from "./run-encode.ts";

/** A run with what its pieces share. */
export interface Encoding extends EncodeRun {
  told: EncodeProgress;
  /** Aborts when the run is over, or another chunk of it has failed. */
  stopped: AbortSignal;
}

/** Where the files of a chunk go when the encoder stores them itself. */
export interface Place {
  /** Start of their keys, with a slash at its end. */
  folder: string;
  /** Name of the only file; null for adaptive video. */
  name: string | null;
}

/** Has one chunk encoded; rejects with a MediaError, also for an encoder that gives nothing. */
export async function encodeChunk(
  encoding: Encoding,
  chunk: Chunk,
  place: Place,
  durable: AbortSignal,
): Promise<Awaited<ReturnType<Encoder["encode"]>>> {
  const { plan, source, encoder, remote, told } = encoding;
  const signal = AbortSignal.any([encoding.stopped, durable]);
  signal.throwIfAborted();
  try {
    const encoded = await encoder.encode({
      ...{ plan, chunk, source, input: await encoding.input(), signal },
      id: `${encoding.id}-${chunk.index}`,
      onWait: told.waits,
      onProgress: (share) => told.share(chunk, share),
      ...(remote && {
        remote: async () => {
          const [input, folder] = await Promise.all([remote.input(), remote.folder(place.folder)]);
          return { input, folder, name: place.name };
        },
      }),
    });
    if (encoded instanceof ReadableStream || isWhole(encoded)) return encoded;
  } catch (thrown) {
    signal.throwIfAborted();
    throw toMediaError(thrown, "encode_failed");
  }
  throw new MediaError("encode_failed", `The ${encoder.name} encoder gave an empty file.`);
}

function isWhole(encoded: EncodedFile[] | Written): boolean {
  if (!Array.isArray(encoded)) return isWhole(encoded.playlists) || encoded.written.length > 0;
  return encoded.length > 0 && encoded.every((file) => file.bytes.length > 0);
}
