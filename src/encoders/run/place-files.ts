import { adaptiveMime } from "../../media/ffmpeg/output-files.ts";
import type { WaveformFacts } from "../../media/source.ts";
import { readSegment } from "../../mux/contents.ts";
import type { Storage } from "../../runs/ports.ts";
import type { EncodedFile, Written } from "../encoder.ts";
import * as errors from "../errors.ts";

type Encoded = EncodedFile[] | ReadableStream<Uint8Array> | Written;

export interface StoredFile {
  key: string;
  mime: string;
  size: number;
  waveform?: WaveformFacts;
  /** Indexes of the source's text streams that the plan includes but the file lacks. */
  lost_subtitles?: number[];
}

/**
 * Stores the only file of a chunk at `folder + name`, or checks it if the encoder stored it there itself. Rejects with `encode_failed`
 * when there is more than one file or its size differs from what the encoder reported.
 */
export async function placeFile(
  storage: Storage,
  encoded: Encoded,
  folder: string,
  { name, mime }: { name: string; mime: string },
): Promise<StoredFile> {
  const key = folder + name;
  if (encoded instanceof ReadableStream) return { key, mime, size: await write(storage, key, encoded, mime) };
  const [file, ...more] = Array.isArray(encoded) ? encoded : encoded.written;
  if (!file || more.length > 0) throw errors.severalFiles();
  if ("bytes" in file) return { key, mime, size: await write(storage, key, file.bytes, mime) };
  const info = file.name === name ? await storage.head(key) : null;
  if (info?.size === file.size && file.size > 0) return { key, mime, size: file.size };
  throw errors.storedFileDiffers();
}

/** Stores the segments of adaptive video in order; returns them, and its playlists, which are not stored. */
export async function placeSegments(storage: Storage, encoded: Encoded, folder: string): Promise<Written> {
  if (encoded instanceof ReadableStream) throw errors.unexpectedStream();
  if (!Array.isArray(encoded)) return encoded;
  const playlists = encoded.filter((file) => isPlaylist(file.name));
  const segments = encoded.filter((file) => !isPlaylist(file.name));
  const written = await placeAll(storage, segments, folder);
  return { playlists, written };
}

/** Stores files of adaptive video in order, so that the master playlist appears only after everything it refers to. */
export async function placeAll(
  storage: Storage,
  files: readonly EncodedFile[],
  folder: string,
  onFile = () => {},
): Promise<Written["written"]> {
  const written: Written["written"] = [];
  for (const { name, bytes } of files) {
    onFile();
    const mime = adaptiveMime(name);
    const size = await write(storage, folder + name, bytes, mime);
    written.push({ name, mime, size, ...(name.endsWith(".m4s") && readSegment(bytes)) });
  }
  return written;
}

async function write(
  storage: Storage,
  key: string,
  body: Uint8Array | ReadableStream<Uint8Array>,
  mime: string,
): Promise<number> {
  return (await storage.write(key, body, mime)).size;
}

function isPlaylist(name: string): boolean {
  return name.endsWith(".m3u8");
}
