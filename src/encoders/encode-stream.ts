import { MediaError } from "../core/errors.ts";
import type { Storage } from "../core/ports.ts";
import type { Chunk } from "../plan/plan.ts";
import { readAll } from "../storage/read-all.ts";
import { finishStream } from "./adaptive-files.ts";
import { type Encoding, encodeChunk } from "./encode-chunk.ts";
import type { EncodedFile, Written } from "./encoder.ts";
import { placeAll, placeSegments } from "./place-files.ts";
import type { EncodeResult } from "./run-encode.ts";
import { type StreamPart, stitchStream } from "./stitch-stream.ts";

/** Encodes adaptive video that has one chunk. */
export function encodeStream(encoding: Encoding, chunk: Chunk): Promise<EncodeResult> {
  const { plan, source, out, storage } = encoding;
  return encoding.durably("encode", async (signal) => {
    const encoded = await encodeChunk(encoding, chunk, { folder: out, name: null }, signal);
    if (!Array.isArray(encoded))
      return join(encoding, [{ chunk, ...(await placeSegments(storage, encoded, out)) }]);
    return summary(out, await placeAll(storage, finishStream(encoded, plan, source), out));
  });
}

/**
 * Encodes one chunk of adaptive video: its segments go straight to the output. Gives the key of a note in working storage that
 * says which they are, as there may be too many for a piece of work to remember.
 */
export async function encodeStreamPart(
  encoding: Encoding,
  chunk: Chunk,
  signal: AbortSignal,
): Promise<string> {
  const { storage, out } = encoding;
  const encoded = await encodeChunk(encoding, chunk, { folder: out, name: null }, signal);
  const { written, playlists } = await placeSegments(storage, encoded, out);
  const text = playlists.map((file) => ({ ...file, bytes: new TextDecoder().decode(file.bytes) }));
  const key = `${encoding.work}${chunk.index}.json`;
  await storage.write(key, new TextEncoder().encode(JSON.stringify({ written, playlists: text })), NOTE_MIME);
  return key;
}

/** Writes the playlists of adaptive video whose chunks are all encoded. */
export async function finishParts(
  encoding: Encoding,
  parts: readonly { chunk: Chunk; key: string }[],
): Promise<EncodeResult> {
  const read = parts.map(async ({ chunk, key }) => ({ chunk, ...(await readNote(encoding.storage, key)) }));
  return join(encoding, await Promise.all(read));
}

const NOTE_MIME = "application/json";

async function join({ plan, source, out, storage }: Encoding, parts: StreamPart[]): Promise<EncodeResult> {
  const read = (name: string) => readStored(storage, out + name);
  const playlists = await placeAll(storage, await stitchStream({ plan, source, parts, read }), out);
  const segments = parts.flatMap(({ written }) => written);
  return summary(out, [...segments, ...playlists]);
}

async function readStored(storage: Storage, key: string): Promise<Uint8Array> {
  const stored = await storage.read(key);
  if (!stored) throw new MediaError("encode_failed", "What was encoded is not in storage any more.");
  return readAll(stored.body);
}

async function readNote(storage: Storage, key: string): Promise<Written> {
  const note: { written: Written["written"]; playlists: (Omit<EncodedFile, "bytes"> & { bytes: string })[] } =
    JSON.parse(new TextDecoder().decode(await readStored(storage, key)));
  const encoder = new TextEncoder();
  return {
    written: note.written,
    playlists: note.playlists.map((file) => ({ ...file, bytes: encoder.encode(file.bytes) })),
  };
}

function summary(out: string, files: Written["written"]): EncodeResult {
  const main = files[files.length - 1];
  if (!main) throw new MediaError("encode_failed", "The encoder gave nothing.");
  return { key: out + main.name, files: files.length, size: files.reduce((sum, file) => sum + file.size, 0) };
}
