import { MediaError, toMediaError } from "../../core/errors.ts";
import type { Tally } from "../../ffmpeg/tally.ts";
import { extraFilesOf } from "../../media/extra-inputs.ts";
import { planOfChunk } from "../../plan/chunks.ts";
import type { Chunk } from "../../plan/plan.ts";
import type { EncodedFile, Encoder, Written } from "../encoder.ts";
import type { Encoding } from "./encoding.ts";

/** Where an encoder that stores its own files puts those of a chunk. */
export interface Place {
  /** Key prefix, ending in a slash. */
  folder: string;
  /** Name of the only file; null for adaptive video. */
  name: string | null;
}

export type Encoded = Awaited<ReturnType<Encoder["encode"]>>;

export interface Attempt {
  /** Counts from 0. */
  attempt: number;
  onTally(tally: Tally): void;
}

/** Encodes one chunk. Rejects with a MediaError, also when the encoder returns nothing. */
export async function encodeChunk(
  encoding: Encoding,
  chunk: Chunk,
  place: Place,
  durable: AbortSignal,
  { attempt, onTally }: Attempt,
): Promise<Encoded> {
  const { plan, source, encoder, remote, tracker } = encoding;
  const signal = AbortSignal.any([encoding.stopped, durable]);
  signal.throwIfAborted();
  const several = extraFilesOf(plan, chunk).length > 0;
  try {
    const encoded = await encoder.encode({
      ...{ plan: planOfChunk(plan, chunk), chunk, source, input: await encoding.input(), signal },
      ...(several && encoding.further && { further: await encoding.further() }),
      // The id of the first attempt names a job that has already ended.
      id: `${encoding.id}-${chunk.index}${attempt > 0 ? `.${attempt}` : ""}`,
      // Another attempt starts to decode elsewhere.
      ...(encoding.together && attempt === 0 && { together: encoding.together }),
      onTally,
      onWait: tracker.waits,
      onProgress: (share) => tracker.share(chunk, share),
      ...(remote && {
        remote: async () => {
          const [input, folder] = await Promise.all([remote.input(), remote.folder(place.folder)]);
          const further = several && remote.further && { further: await remote.further() };
          return { input, ...further, folder, name: place.name };
        },
      }),
    });
    if (encoded instanceof ReadableStream || isWhole(encoded)) return encoded;
  } catch (thrown) {
    signal.throwIfAborted();
    throw toMediaError(thrown, "encode_failed");
  }
  throw new MediaError("encode_failed", `The ${encoder.name} encoder returned an empty file.`);
}

function isWhole(encoded: EncodedFile[] | Written): boolean {
  if (!Array.isArray(encoded)) return isWhole(encoded.playlists) || encoded.written.length > 0;
  return encoded.length > 0 && encoded.every((file) => file.bytes.length > 0);
}
