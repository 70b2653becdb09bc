import type { VideoFormat } from "../../core/formats.ts";
import type { Counts } from "../../core/source.ts";
import { outputFile } from "../../ffmpeg/output.ts";
import { joinsByCopy, placedParts } from "../../media/features/concat-plan.ts";
import { shownEnd } from "../../plan/pictures-end.ts";
import type { Chunk } from "../../plan/plan.ts";
import { storageReader } from "../../storage/storage-reader.ts";
import type { Stretch } from "../stitch/packets.ts";
import { stitch } from "../stitch/stitch.ts";
import { countContents } from "./count-output.ts";
import { type Counted, checkOutput, encodeCounted } from "./encode-counted.ts";
import { hasLaterParts, placeWithSubtitles, targetFile } from "./encode-whole.ts";
import type { Encoding, OutputFiles } from "./encoding.ts";
import { readMetadata } from "./file-metadata.ts";
import { placeFile } from "./place-files.ts";

/** An encoded chunk; `stored` is the key of its file. */
export interface EncodedPart extends Counted<string> {
  chunk: Chunk;
}

/** Encodes one part of a video into working storage. */
export async function encodePart(
  encoding: Encoding,
  chunk: Chunk,
  signal: AbortSignal,
): Promise<Counted<string>> {
  const { plan, storage, work } = encoding;
  const { name, mime } = outputFile(plan, chunk);
  const file = { name: `${chunk.index}-${name}`, mime };
  return encodeCounted(encoding, chunk, { folder: work, name: file.name }, signal, async (encoded) => {
    const { key } = await placeFile(storage, encoded, work, file);
    return { stored: key, count: async () => countContents(await storageReader(storage, key), signal) };
  });
}

// All parts are open at once, and their reader decides how much to read.
const UNCACHED = { ahead: 0, most: 0, keep: 0 };

/** Joins the parts of a video by copying their packets, and checks the result against the counts of its parts. */
export async function stitchParts(
  encoding: Encoding,
  parts: readonly EncodedPart[],
  counts: Counts,
  durable: AbortSignal,
): Promise<OutputFiles> {
  const { plan, source, storage, out, work } = encoding;
  const open = (part: EncodedPart) => storageReader(storage, part.stored, UNCACHED);
  const constant = plan.video?.mode === "encode" && plan.video.fps !== null;
  const sound = parts.find(({ chunk }) => chunk.track === "audio");
  const pictures = parts.filter(({ chunk }) => chunk.track === "video");
  const encoded = async (part: EncodedPart) => ({
    input: await open(part),
    at: (part.chunk.start - plan.start) / (plan.speed ?? 1),
  });
  const joins = joinsByCopy(plan);
  const signal = AbortSignal.any([encoding.stopped, durable]);
  const body = stitch({
    format: plan.format as VideoFormat,
    video: joins ? await openSources(encoding) : await Promise.all(pictures.map(encoded)),
    audio: sound ? await open(sound) : null,
    until: constant ? null : joins ? plan.duration : shownEnd(source, plan),
    ...(joins && { of_source: true, ticks: joinedTicks(encoding) }),
    metadata: await readMetadata(plan, encoding.input, signal),
    signal,
    onWait: encoding.tracker.waits,
  });
  const target = targetFile(encoding, plan.chunks[0] as Chunk);
  const stitched = await placeFile(storage, body, hasLaterParts(plan) ? work : out, target);
  const { mime: _, ...stored } = hasLaterParts(plan)
    ? await placeWithSubtitles(encoding, stitched, target, signal)
    : stitched;
  if (counts.pictures || counts.sound) {
    checkOutput(counts, await countContents(await storageReader(storage, stored.key), signal));
  }
  return { ...stored, files: 1 };
}

// The parts of a joined film are the sources themselves.
async function openSources({ plan, input, further }: Encoding): Promise<Stretch[]> {
  const inputs = [await input(), ...((await further?.()) ?? [])];
  return placedParts(plan).flatMap(({ input: place, at }) => {
    const file = inputs[place];
    return file ? [{ input: file, at }] : [];
  });
}

// Of coarse ones a multiple: others do not divide 24, and sound would be cut on its ticks. Of very fine ones the 32 bits of a
// picture's duration would hold seconds.
const TICKS = { fewest: 10_000, most: 1_000_000 } as const;

// The finest of all, which most others divide.
function joinedTicks({ plan: { concat = [] } }: Encoding): number {
  const finest = Math.max(...concat.map(({ joined }) => joined?.ticks ?? 1));
  return Math.min(TICKS.most, finest * Math.ceil(TICKS.fewest / finest));
}
