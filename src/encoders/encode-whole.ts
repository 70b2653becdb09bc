import { outputFile } from "../ffmpeg/output.ts";
import type { Chunk } from "../plan/plan.ts";
import { type Encoding, encodeChunk } from "./encode-chunk.ts";
import { placeFile, type StoredFile } from "./place-files.ts";

/** Encodes a plan that has one chunk, and one file, straight into its place. */
export function encodeWhole(encoding: Encoding, chunk: Chunk): Promise<StoredFile> {
  const { storage, out } = encoding;
  return encoding.durably("encode", async (signal) => {
    const target = targetFile(encoding, chunk);
    const encoded = await encodeChunk(encoding, chunk, { folder: out, name: target.name }, signal);
    return placeFile(storage, encoded, out, target);
  });
}

/** Gives the name and MIME type of the one file of an output. */
export function targetFile({ plan, name }: Encoding, chunk: Chunk): { name: string; mime: string } {
  const file = outputFile(plan, { ...chunk, track: "all" });
  return { name: name + file.name.slice(file.name.lastIndexOf(".")), mime: file.mime };
}
