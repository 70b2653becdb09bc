import type { ByteReader } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { parseFfprobe } from "../ffmpeg/parse-ffprobe.ts";

/** Looks into media: interim, by ffprobe alone. */
export async function probeMedia(
  reader: ByteReader,
  given: { url: string; mime?: string },
  ffprobe: (reader: ByteReader, signal: AbortSignal) => Promise<unknown>,
  signal: AbortSignal,
): Promise<Source> {
  return parseFfprobe(await ffprobe(reader, signal), { url: given.url, filesize: reader.size });
}
