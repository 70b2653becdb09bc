import { moveChapters } from "../../media/chapters.ts";
import { containerOf, isOgg, pictureFormat } from "../../media/containers.ts";
import { joinsByCopy, placedParts } from "../../media/features/concat-plan.ts";
import { addsCoverLater, valuesAddedLater } from "../../media/features/metadata.ts";
import type { WaveformPlan } from "../../media/features/waveform.ts";
import { outputExtension, outputFile, outputMime } from "../../media/ffmpeg/output-files.ts";
import type { VideoFormat, WaveformFormat } from "../../media/formats.ts";
import { bestTrial, nextTrial, type TriedImage, trialPlan } from "../../media/image-trials.ts";
import { type Chunk, isSpliced, outputStart, type Plan, partsOf } from "../../media/plan.ts";
import type { Counts } from "../../media/source.ts";
import { shownEnd } from "../../media/timeline.ts";
import { editFlacComments, editId3, editOggComments } from "../../mux/audio-tags.ts";
import { type Contents, countContents, countSequence } from "../../mux/contents.ts";
import { editFile } from "../../mux/file-edit.ts";
import { readCover, readMetadata } from "../../mux/file-metadata.ts";
import type { VideoPart } from "../../mux/packets.ts";
import type { SpliceOptions, SplicePiece } from "../../mux/splice.ts";
import { stitch } from "../../mux/stitch.ts";
import { storageReader } from "../../storage/readers.ts";
import { readAll, requireEncoded } from "../../storage/storage.ts";
import * as errors from "../errors.ts";
import { type AnimationEnd, endAnimation, needsEnd } from "../images/animation.ts";
import { isSamePng, pngEdits, withPalette } from "../images/png.ts";
import { writeWaveform } from "../waveform.ts";
import { type Counted, checkOutput, encodeCounted } from "./encode-chunk.ts";
import type { Encoding, OutputFiles } from "./encoding.ts";
import { placeFile, type StoredFile } from "./place-files.ts";
import { addSubtitles, readSubtitles, type Subtitles } from "./subtitles.ts";

/** Encodes a plan of one chunk and one file to its final key, and then makes the edits that ffmpeg cannot make itself. */
function encodeWhole(encoding: Encoding, chunk: Chunk, step = "encode"): Promise<Counted<StoredFile>> {
  const { storage, out, work, plan, source } = encoding;
  if (plan.waveform) return encodePeaks(encoding, chunk, plan.waveform);
  return encoding.durably(step, async (signal) => {
    const target = targetFile(encoding, chunk);
    const isAnimation = plan.image?.animated === true;
    const animated = needsEnd(plan);
    const hasValues = Object.keys(valuesAddedLater(plan, source)).length > 0;
    const needsEdit = animated || addsCoverLater(plan) || hasValues || addsText(plan);
    const folder = needsEdit ? work : out;
    return encodeCounted(encoding, chunk, { folder, name: target.name }, signal, async (encoded) => {
      const placed = await placeFile(storage, encoded, folder, target);
      if (animated) {
        const end = endAnimation(plan.format, plan.duration ?? 0, plan.image?.motion?.loop);
        const stored = await placeFinished(encoding, placed, target, end.stream, signal);
        return { stored, count: async () => animationContents(encoding, end) };
      }
      const stored = addsText(plan)
        ? await placeWithSubtitles(encoding, placed, target, signal)
        : needsEdit
          ? await placeWithComments(encoding, placed, target, signal)
          : await smallerOf(encoding, placed, target, signal);
      return {
        stored,
        async count() {
          if (isAnimation && pictureFormat(plan.format).frame_clock === undefined)
            return { pictures: null, sound: 0 };
          const reader = await storageReader(storage, stored.key);
          return isAnimation ? countSequence(reader) : countContents(reader, signal);
        },
      };
    });
  });
}

// An unchanged PNG may have better filters or fewer bits per pixel than ffmpeg writes, and a palette may shrink any PNG.
async function smallerOf(
  { plan, source, input, storage, out, tracker }: Encoding,
  placed: StoredFile,
  target: { name: string; mime: string },
  signal: AbortSignal,
): Promise<StoredFile> {
  const isPacked = plan.image !== null && plan.still && pictureFormat(plan.format).palette === "smaller";
  if (!isPacked || source.kind !== "image" || placed.size <= (source.filesize ?? 0)) return placed;
  if (isSamePng(plan, source)) {
    const reader = await input();
    const edits = await pngEdits(reader, signal);
    if (edits)
      return placeFile(storage, editFile(reader, edits, { signal, onWait: tracker.waits }), out, target);
  }
  const { body } = requireEncoded(await storage.read(placed.key));
  const packed = await withPalette(await readAll(body));
  return packed ? placeFile(storage, [{ ...target, bytes: packed }], out, target) : placed;
}

function encodePeaks(encoding: Encoding, chunk: Chunk, waveform: WaveformPlan): Promise<Counted<StoredFile>> {
  const { storage, work, plan } = encoding;
  return encoding.durably("encode", async (signal) => {
    const peaks = outputFile(plan, chunk);
    return encodeCounted(encoding, chunk, { folder: work, name: peaks.name }, signal, async (encoded) => {
      const placed = await placeFile(storage, encoded, work, peaks);
      const end = writeWaveform(plan.format as WaveformFormat, waveform);
      const target = targetFile(encoding, chunk);
      const stored = await placeFinished(encoding, placed, target, end.stream, signal);
      return {
        stored: { ...stored, waveform: end.facts() },
        count: async () => ({ pictures: null, sound: end.seconds() }),
      };
    });
  });
}

function animationContents({ plan }: Encoding, end: AnimationEnd): Contents {
  const frames = end.frames();
  return pictureFormat(plan.format).merges_frames
    ? { pictures: null, filePictures: frames, sound: 0 }
    : { pictures: frames, sound: 0 };
}

async function placeWithComments(
  encoding: Encoding,
  placed: StoredFile,
  target: { name: string; mime: string },
  signal: AbortSignal,
): Promise<StoredFile> {
  const { plan, source, storage, out, work } = encoding;
  if (containerOf({ format: plan.format }).tags === "id3") {
    const encoded = await storageReader(storage, placed.key);
    const edits = await editId3(encoded, { chapters: [], values: valuesAddedLater(plan, source) });
    const body = editFile(encoded, edits, { signal, onWait: encoding.tracker.waits });
    const stored = await placeFile(storage, body, out, target);
    await storage.clear(work + target.name);
    return stored;
  }
  const cover = addsCoverLater(plan) ? await readCover(await encoding.input(), signal) : null;
  const values = valuesAddedLater(plan, source);
  const edits = cover || Object.keys(values).length > 0 ? { cover, values } : null;
  const edit = isOgg(plan.format) ? editOggComments : editFlacComments;
  return placeFinished(encoding, placed, target, edits && edit(edits), signal);
}

/** Reads the text tracks of a plan. */
export async function subtitlesOf(encoding: Encoding, signal: AbortSignal): Promise<Subtitles> {
  if (!encoding.plan.subtitles) return { tracks: [], lost: [] };
  const reading = { ...encoding, signal, onWait: encoding.tracker.waits };
  return readSubtitles(reading, await encoding.input());
}

function addsText({ subtitles, chapters }: Plan): boolean {
  return subtitles !== undefined || chapters === true;
}

/** Places an encoded file with the text tracks and chapters of its plan, and removes it from working storage. */
async function placeWithSubtitles(
  encoding: Encoding,
  { key }: StoredFile,
  target: { name: string; mime: string },
  signal: AbortSignal,
): Promise<StoredFile> {
  const { plan, source, storage, out, work } = encoding;
  const encoded = await storageReader(storage, key);
  const { tracks, lost } = await subtitlesOf(encoding, signal);
  const chapters = plan.chapters ? moveChapters(source.chapters ?? [], plan) : [];
  const editing = { signal, onWait: encoding.tracker.waits };
  const body =
    plan.kind === "audio"
      ? editFile(
          encoded,
          await editId3(encoded, { chapters, values: valuesAddedLater(plan, source) }),
          editing,
        )
      : await addSubtitles(encoded, plan.format as VideoFormat, { tracks, chapters }, editing);
  const placed = await placeFile(storage, body, out, target);
  await storage.clear(work + target.name);
  return { ...placed, ...(lost.length > 0 && { lost_subtitles: lost }) };
}

async function placeFinished(
  { storage, out, work }: Encoding,
  { key }: StoredFile,
  target: { name: string; mime: string },
  finish: TransformStream<Uint8Array, Uint8Array> | null,
  signal: AbortSignal,
): Promise<StoredFile> {
  const encoded = requireEncoded(await storage.read(key));
  const body = finish ? encoded.body.pipeThrough(finish, { signal }) : encoded.body;
  const placed = await placeFile(storage, body, out, target);
  await storage.clear(work);
  return placed;
}

function targetFile({ plan, name }: Encoding, chunk: Chunk): { name: string; mime: string } {
  if (plan.waveform) return { name: `${name}.${outputExtension(plan)}`, mime: outputMime(plan) };
  const file = outputFile(plan, { ...chunk, track: "all" });
  return { name: name + file.name.slice(file.name.lastIndexOf(".")), mime: file.mime };
}

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

// A stitch opens every part at once, so caches would add up.
const NO_CACHE = { minAhead: 0, maxAhead: 0, cacheBytes: 0 };

/** Joins the parts of a video by copying their packets, and checks the result against the counts of its parts. */
export async function stitchParts(
  encoding: Encoding,
  parts: readonly EncodedPart[],
  counts: Counts,
  durable: AbortSignal,
): Promise<OutputFiles> {
  const { plan, source, storage, out, work } = encoding;
  const open = (part: EncodedPart) => storageReader(storage, part.stored, NO_CACHE);
  const constant = plan.video?.mode === "encode" && plan.video.fps !== null;
  const sound = parts.find(({ chunk }) => chunk.track === "audio");
  const pictures = parts.filter(({ chunk }) => chunk.track === "video");
  const encoded = async (part: EncodedPart) => ({
    input: await open(part),
    at: outputStart(plan, part.chunk),
  });
  const joins = joinsByCopy(plan);
  const signal = AbortSignal.any([encoding.stopped, durable]);
  let soundSeconds: readonly number[] = [];
  const body = stitch({
    format: plan.format as VideoFormat,
    video: joins ? await openSources(encoding) : await Promise.all(pictures.map(encoded)),
    audio: sound ? await open(sound) : null,
    ...(isSpliced(plan) && {
      splice: await spliceOf(encoding, pictures, signal),
      onSound: (seconds) => {
        soundSeconds = seconds;
      },
    }),
    until: constant ? null : joins ? plan.duration : shownEnd(source, plan),
    ...(joins && { ofSource: true, ticks: joinedTicks(encoding) }),
    metadata: await readMetadata(plan, encoding.input, signal),
    signal,
    onWait: encoding.tracker.waits,
  });
  const target = targetFile(encoding, plan.chunks[0] as Chunk);
  const stitched = await placeFile(storage, body, addsText(plan) ? work : out, target);
  const { mime: _, ...stored } = addsText(plan)
    ? await placeWithSubtitles(encoding, stitched, target, signal)
    : stitched;
  const contents = await countContents(await storageReader(storage, stored.key), signal);
  if (counts.pictures || counts.sound) checkOutput(counts, contents);
  return { ...stored, files: 1, ...(isSpliced(plan) && { sound_seconds: [...soundSeconds] }) };
}

async function spliceOf(
  { plan, source, input, storage }: Encoding,
  encoded: readonly EncodedPart[],
  signal: AbortSignal,
): Promise<SpliceOptions> {
  const { audio, sound_track: track = 0, format } = plan;
  const pieces: SplicePiece[] = [];
  for (const { index, track, start, end, at = 0, copy } of plan.chunks) {
    const part = encoded.find((each) => each.chunk.index === index);
    if (copy && end !== null) pieces.push({ at, from: { start, end, pictures: copy.pictures } });
    else if (track === "video" && part)
      pieces.push({ at, from: await storageReader(storage, part.stored, NO_CACHE) });
  }
  const sound = audio?.mode === "copy" && { sound: { track, parts: partsOf(plan) } };
  return { source, reader: await input(), pieces, ...sound, format, signal };
}

async function openSources({ plan, input, extra }: Encoding): Promise<VideoPart[]> {
  const inputs = [await input(), ...((await extra?.()) ?? [])];
  return placedParts(plan).flatMap(({ input: place, at }) => {
    const file = inputs[place];
    return file ? [{ input: file, at }] : [];
  });
}

// Sound is cut at ticks, so coarse ones are multiplied; very fine ones overflow the 32 bits of a picture's duration.
const TICKS = { min: 10_000, max: 1_000_000 } as const;

function joinedTicks({ plan: { concat = [] } }: Encoding): number {
  const finest = Math.max(...concat.map(({ joined }) => joined?.ticks ?? 1));
  return Math.min(TICKS.max, finest * Math.ceil(TICKS.min / finest));
}

interface EncodedTrial extends TriedImage {
  key: string;
  counts: Counts;
}

/** Encodes a plan of one chunk and one file; an image with a size limit is encoded repeatedly to find the best that fits. */
export async function encodeWithin(encoding: Encoding, chunk: Chunk): Promise<Counted<StoredFile>> {
  const { plan, source, id, work } = encoding;
  const { max_bytes } = plan.image ?? {};
  if (max_bytes === undefined) return encodeWhole(encoding, chunk);
  const trials: EncodedTrial[] = [];
  for (let trial = nextTrial(plan, trials); trial; trial = nextTrial(plan, trials)) {
    const name = `try ${trials.length + 1}`;
    const folder = `${work}${trials.length + 1}/`;
    const own: Encoding = {
      ...encoding,
      plan: trialPlan(plan, source, trial),
      id: `${id}-${trials.length + 1}`,
      work: `${folder}raw/`,
      out: folder,
    };
    const { stored, counts } = await encodeWhole(own, chunk, `encode ${name}`);
    trials.push({ ...trial, bytes: stored.size, key: stored.key, counts });
  }
  const best = bestTrial(plan, trials);
  if (best) return { stored: await storeBest(encoding, chunk, best), counts: best.counts };
  const leastBytes = Math.min(...trials.map(({ bytes }) => bytes));
  throw errors.maxBytesTooSmall({ maxBytes: max_bytes, leastBytes });
}

async function storeBest(encoding: Encoding, chunk: Chunk, { key }: EncodedTrial): Promise<StoredFile> {
  const { storage, out, work, durably } = encoding;
  const stored = await durably("keep", async () => {
    const encoded = requireEncoded(await storage.read(key));
    return placeFile(storage, encoded.body, out, targetFile(encoding, chunk));
  });
  await durably("tidy", async () => {
    await storage.clear(work);
    return null;
  });
  return stored;
}
