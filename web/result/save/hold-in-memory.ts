import { MediaError } from "../../../src/index.ts";
import { bytes } from "../../words/quantities.ts";

export interface HoldLimits {
  /** Bytes of the stream; null when unknown before it is read. */
  readonly total: number | null;
  readonly most: number;
  readonly signal: AbortSignal;
}

/**
 * Reads a whole stream into memory. Rejects with `storage_full` as soon as it is known to be too large, as the stream does,
 * or with the signal's reason.
 */
export async function holdInMemory(
  stream: ReadableStream<Uint8Array>,
  { total, most, signal }: HoldLimits,
): Promise<Blob> {
  if (total !== null && total > most) {
    await stream.cancel().catch(() => {});
    throw tooLarge(most);
  }
  const pieces: Blob[] = [];
  let size = 0;
  const sink = new WritableStream<Uint8Array<ArrayBuffer>>({
    write(piece) {
      size += piece.length;
      if (size > most) throw tooLarge(most);
      // A browser may keep a blob outside the page's memory.
      pieces.push(new Blob([piece]));
    },
  });
  await (stream as ReadableStream<Uint8Array<ArrayBuffer>>).pipeTo(sink, { signal });
  return new Blob(pieces);
}

function tooLarge(most: number): MediaError {
  const message = `This window has no file storage, as in some private windows, so at most ${bytes(most)} can be downloaded at once. Choose fewer files, or open the page in another window.`;
  return new MediaError("storage_full", message);
}
