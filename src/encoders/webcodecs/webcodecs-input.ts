import { ALL_FORMATS, BlobSource, CustomSource, Input, type InputVideoTrack } from "mediabunny";
import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";

export interface OpenPictures {
  track: InputVideoTrack;
  /** Presentation start of the source, in seconds on the track's clock. */
  origin: number;
}

/**
 * Opens a source in mediabunny: its Blob where the reader has one, otherwise by ranges. Disposing of the input ends all
 * reading.
 */
export function openInput(reader: ByteReader, signal: AbortSignal): Input {
  const { blob } = reader as Partial<{ blob: unknown }>;
  // Failures are observed where they are awaited.
  const handleUnhandledError = () => {};
  const source =
    blob instanceof Blob
      ? new BlobSource(blob, { handleUnhandledError })
      : new CustomSource({
          getSize: () => reader.size,
          read: (start, end) => reader.read({ start, end }, signal),
          prefetchProfile: "network",
          handleUnhandledError,
        });
  return new Input({ source, formats: ALL_FORMATS });
}

/**
 * Finds the pictures of a source. Rejects with `input_no_video` or `input_unsupported` when it has none that can be decoded
 * here.
 */
export async function openPicturesOf(input: Input): Promise<OpenPictures> {
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new MediaError("input_no_video", "The source has no readable pictures.");
  if (!(await track.canDecode())) {
    throw new MediaError("input_unsupported", "This browser cannot decode the source's pictures.");
  }
  // Priming before 0 is inaudible; a source that starts later begins with its first stream.
  return { track, origin: Math.max(0, await input.getFirstTimestamp()) };
}

/** Rejects as the reader does when the source is no longer readable; a browser's own read errors do not say why. */
export async function checkReadable(reader: ByteReader): Promise<void> {
  try {
    await reader.read({ start: 0, end: 1 });
  } catch (thrown) {
    if (thrown instanceof MediaError) throw thrown;
  }
}
