import type { VideoFormat } from "../core/formats.ts";
import { outputFile } from "../ffmpeg/output.ts";
import type { Chunk } from "../plan/plan.ts";
import { storageReader } from "../storage/storage-reader.ts";
import { type Encoding, encodeChunk } from "./encode-chunk.ts";
import { targetFile } from "./encode-whole.ts";
import { placeFile, type StoredFile } from "./place-files.ts";
import { stitch } from "./stitch.ts";

/** Encodes one part of a video into working storage; gives its key. */
export async function encodePart(encoding: Encoding, chunk: Chunk, signal: AbortSignal): Promise<string> {
  const { plan, work } = encoding;
  const { name, mime } = outputFile(plan, chunk);
  const file = { name: `${chunk.index}-${name}`, mime };
  const encoded = await encodeChunk(encoding, chunk, { folder: work, name: file.name }, signal);
  return (await placeFile(encoding.storage, encoded, work, file)).key;
}

// All parts are open at once, and what reads them knows how much it wants.
const UNCACHED = { ahead: 0, most: 0, keep: 0 };

/** Puts the parts of a video together by copying their packets. */
export async function stitchParts(
  encoding: Encoding,
  parts: readonly { chunk: Chunk; key: string }[],
  durable: AbortSignal,
): Promise<StoredFile> {
  const { plan, storage, out } = encoding;
  const open = (part: { key: string }) => storageReader(storage, part.key, UNCACHED);
  const sound = parts.find(({ chunk }) => chunk.track === "audio");
  const pictures = parts.filter(({ chunk }) => chunk.track === "video");
  const video = pictures.map(async (part) => ({
    input: await open(part),
    at: part.chunk.start - plan.start,
  }));
  const body = stitch({
    format: plan.format as VideoFormat,
    video: await Promise.all(video),
    audio: sound ? await open(sound) : null,
    signal: AbortSignal.any([encoding.stopped, durable]),
  });
  const target = targetFile(encoding, plan.chunks[0] as Chunk);
  return placeFile(storage, body, out, target);
}
