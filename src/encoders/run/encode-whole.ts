import { MediaError } from "../../core/errors.ts";
import { addsCoverLater } from "../../ffmpeg/metadata-args.ts";
import { outputFile } from "../../ffmpeg/output.ts";
import type { Chunk } from "../../plan/plan.ts";
import { storageReader } from "../../storage/storage-reader.ts";
import { addOggCover } from "../stitch/ogg-cover.ts";
import { countContents } from "./count-output.ts";
import { type Counted, encodeCounted } from "./encode-counted.ts";
import type { Encoding } from "./encoding.ts";
import { readCover } from "./file-metadata.ts";
import { placeFile, type StoredFile } from "./place-files.ts";

/** Encodes a plan of one chunk and one file straight to its final key. */
export function encodeWhole(encoding: Encoding, chunk: Chunk): Promise<Counted<StoredFile>> {
  const { storage, out, work, plan } = encoding;
  return encoding.durably("encode", async (signal) => {
    const target = targetFile(encoding, chunk);
    const coverLater = addsCoverLater(plan);
    const folder = coverLater ? work : out;
    return encodeCounted(encoding, chunk, { folder, name: target.name }, signal, async (encoded) => {
      const placed = await placeFile(storage, encoded, folder, target);
      const stored = coverLater ? await placeWithCover(encoding, placed, target, signal) : placed;
      return {
        stored,
        count: async () => countContents(await storageReader(storage, stored.key), signal),
      };
    });
  });
}

async function placeWithCover(
  { storage, input, out, work }: Encoding,
  { key }: StoredFile,
  target: { name: string; mime: string },
  signal: AbortSignal,
): Promise<StoredFile> {
  const cover = await readCover(await input(), signal);
  const encoded = await storage.read(key);
  if (!encoded) throw new MediaError("encode_failed", "The encoded file is no longer in storage.");
  const body = cover ? encoded.body.pipeThrough(addOggCover(cover), { signal }) : encoded.body;
  const placed = await placeFile(storage, body, out, target);
  await storage.clear(work);
  return placed;
}

/** Returns the name and MIME type of the one file of an output. */
export function targetFile({ plan, name }: Encoding, chunk: Chunk): { name: string; mime: string } {
  const file = outputFile(plan, { ...chunk, track: "all" });
  return { name: name + file.name.slice(file.name.lastIndexOf(".")), mime: file.mime };
}
