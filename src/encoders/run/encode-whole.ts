import { moveChapters } from "../../core/chapters/chapters.ts";
import type { VideoFormat, WaveformFormat } from "../../core/formats.ts";
import { outputExtension, outputFile, outputMime } from "../../ffmpeg/output.ts";
import { addsCoverLater } from "../../media/features/metadata.ts";
import type { WaveformPlan } from "../../media/features/waveform.ts";
import type { Chunk, Plan } from "../../plan/plan.ts";
import { requireEncoded } from "../../storage/encoded-file.ts";
import { storageReader } from "../../storage/storage-reader.ts";
import { addToMp3 } from "../chapters/write-chapters.ts";
import { type AnimationEnd, endAnimation } from "../images/animation.ts";
import { addOggCover } from "../stitch/ogg-cover.ts";
import { addSubtitles } from "../subtitles/add-subtitles.ts";
import { editFile } from "../subtitles/edit-file.ts";
import { readSubtitles, type Subtitles } from "../subtitles/read-subtitles.ts";
import { writeWaveform } from "../waveform/write-waveform.ts";
import { type Contents, countContents, countSequence } from "./count-output.ts";
import { type Counted, encodeCounted } from "./encode-counted.ts";
import type { Encoding } from "./encoding.ts";
import { readCover } from "./file-metadata.ts";
import { placeFile, type StoredFile } from "./place-files.ts";

/** Encodes a plan of one chunk and one file straight to its final key, or past what ffmpeg cannot do by itself. */
export function encodeWhole(encoding: Encoding, chunk: Chunk, step = "encode"): Promise<Counted<StoredFile>> {
  const { storage, out, work, plan } = encoding;
  if (plan.waveform) return encodePeaks(encoding, chunk, plan.waveform);
  return encoding.durably(step, async (signal) => {
    const target = targetFile(encoding, chunk);
    // The packets of an AVIF have lengths of their own.
    const moves = plan.image?.animated === true;
    const animated = moves && plan.duration !== null && plan.format !== "avif";
    const later = animated || addsCoverLater(plan) || hasLaterParts(plan);
    const folder = later ? work : out;
    return encodeCounted(encoding, chunk, { folder, name: target.name }, signal, async (encoded) => {
      const placed = await placeFile(storage, encoded, folder, target);
      if (animated) {
        const end = endAnimation(plan.format, plan.duration ?? 0);
        const stored = await placeFinished(encoding, placed, target, end.stream, signal);
        return { stored, count: async () => animationContents(encoding, end) };
      }
      const stored = hasLaterParts(plan)
        ? await placeWithSubtitles(encoding, placed, target, signal)
        : later
          ? await placeWithCover(encoding, placed, target, signal)
          : placed;
      return {
        stored,
        async count() {
          if (moves && plan.format !== "avif") return { pictures: null, sound: 0 };
          const reader = await storageReader(storage, stored.key);
          return moves ? countSequence(reader) : countContents(reader, signal);
        },
      };
    });
  });
}

// Encoders return peaks, which then become the output.
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

// WebP merges frames that are alike.
function animationContents({ plan }: Encoding, end: AnimationEnd): Contents {
  const frames = end.frames();
  return plan.format === "webp"
    ? { pictures: null, found: frames, sound: 0 }
    : { pictures: frames, sound: 0 };
}

async function placeWithCover(
  encoding: Encoding,
  placed: StoredFile,
  target: { name: string; mime: string },
  signal: AbortSignal,
): Promise<StoredFile> {
  const cover = await readCover(await encoding.input(), signal);
  return placeFinished(encoding, placed, target, cover && addOggCover(cover), signal);
}

/** Reads the text tracks that the plan of an output has. */
export async function subtitlesOf(encoding: Encoding, signal: AbortSignal): Promise<Subtitles> {
  if (!encoding.plan.subtitles) return { tracks: [], lost: [] };
  const reading = { ...encoding, signal, onWait: encoding.tracker.waits };
  return readSubtitles(reading, await encoding.input());
}

/** Returns whether text tracks or chapters are added to the finished file of a plan. */
export function hasLaterParts({ subtitles, chapters }: Plan): boolean {
  return subtitles !== undefined || chapters === true;
}

/** Places an encoded file with the text tracks and chapters of its plan, and removes it from working storage. */
export async function placeWithSubtitles(
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
      ? editFile(encoded, await addToMp3(encoded, chapters), editing)
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

/** Returns the name and MIME type of the one file of an output. */
export function targetFile({ plan, name }: Encoding, chunk: Chunk): { name: string; mime: string } {
  if (plan.waveform) return { name: `${name}.${outputExtension(plan)}`, mime: outputMime(plan) };
  const file = outputFile(plan, { ...chunk, track: "all" });
  return { name: name + file.name.slice(file.name.lastIndexOf(".")), mime: file.mime };
}
