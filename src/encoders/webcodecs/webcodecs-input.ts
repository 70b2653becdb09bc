import { ALL_FORMATS, BlobSource, CustomSource, Input, type InputVideoTrack } from "mediabunny";
import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";

/** The pictures of an opened source. */
export interface OpenPictures {
  track: InputVideoTrack;
  /** Seconds on the track's clock at which the source starts for a viewer. */
  origin: number;
}

/** Opens a source for mediabunny: by its Blob where the reader has one, else by ranges. Dispose of it to end all reading. */
export function openInput(reader: ByteReader, signal: AbortSignal): Input {
  const { blob } = reader as Partial<{ blob: unknown }>;
  // What fails is heard of where it is waited for.
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

/** Finds the pictures of a source; rejects with `input_no_video` or `input_unsupported` when there are none that can be decoded here. */
export async function openPicturesOf(input: Input): Promise<OpenPictures> {
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new MediaError("input_no_video", "The source has no pictures that could be read.");
  if (!(await track.canDecode())) {
    throw new MediaError("input_unsupported", "This browser cannot decode the source's pictures.");
  }
  // Priming before 0 is not heard; a source that starts later starts for a viewer with its first stream.
  return { track, origin: Math.max(0, await input.getFirstTimestamp()) };
}

/** Rejects as the reader does when the source cannot be read any more: what a browser says of its own reads does not tell. */
export async function checkReadable(reader: ByteReader): Promise<void> {
  try {
    await reader.read({ start: 0, end: 1 });
  } catch (thrown) {
    if (thrown instanceof MediaError) throw thrown;
  }
}
