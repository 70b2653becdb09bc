import type { Counts } from "../../core/source.ts";
import { bestTrial, nextTrial, type TriedImage, trialPlan } from "../../plan/image/within-bytes.ts";
import type { Chunk } from "../../plan/plan.ts";
import { requireEncoded } from "../../storage/storage.ts";
import { errorFor } from "../../words/reason-words.ts";
import type { Counted } from "./encode-counted.ts";
import { encodeWhole, targetFile } from "./encode-whole.ts";
import type { Encoding } from "./encoding.ts";
import { placeFile, type StoredFile } from "./place-files.ts";

interface Tried extends TriedImage {
  key: string;
  counts: Counts;
}

/** Encodes a plan of one chunk and one file, and an image of limited size as often as it takes to find the best that fits. */
export async function encodeWithin(encoding: Encoding, chunk: Chunk): Promise<Counted<StoredFile>> {
  const { plan, source, id, work } = encoding;
  const { max_bytes } = plan.image ?? {};
  if (max_bytes === undefined) return encodeWhole(encoding, chunk);
  const tried: Tried[] = [];
  for (let trial = nextTrial(plan, tried); trial; trial = nextTrial(plan, tried)) {
    const name = `try ${tried.length + 1}`;
    const folder = `${work}${tried.length + 1}/`;
    const own: Encoding = {
      ...encoding,
      plan: trialPlan(plan, source, trial),
      ...{ id: `${id}-${tried.length + 1}`, work: `${folder}raw/`, out: folder },
    };
    const { stored, counts } = await encodeWhole(own, chunk, `encode ${name}`);
    tried.push({ ...trial, bytes: stored.size, key: stored.key, counts });
  }
  const best = bestTrial(plan, tried);
  if (best) return { stored: await keep(encoding, chunk, best), counts: best.counts };
  const least_bytes = Math.min(...tried.map(({ bytes }) => bytes));
  throw errorFor(
    "invalid_options",
    { code: "bytes_too_few", max_bytes, least_bytes },
    { param: "options.max_bytes" },
  );
}

async function keep(encoding: Encoding, chunk: Chunk, { key }: Tried): Promise<StoredFile> {
  const { storage, out, work, durably } = encoding;
  const kept = await durably("keep", async () => {
    const encoded = requireEncoded(await storage.read(key));
    return placeFile(storage, encoded.body, out, targetFile(encoding, chunk));
  });
  await durably("tidy", async () => {
    await storage.clear(work);
    return null;
  });
  return kept;
}
