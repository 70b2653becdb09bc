import { MediaError } from "../core/errors.ts";
import { FORMATS, type VideoFormat } from "../core/formats.ts";
import type { ByteReader, Durably, Storage } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { MASTER } from "../ffmpeg/output.ts";
import type { Chunk, Plan } from "../plan/plan.ts";
import { storageReader } from "../storage/storage-reader.ts";
import { chooseEncoder } from "./choose-encoder.ts";
import type { EncodedFile, Encoder } from "./encoder.ts";
import { stitch } from "./stitch.ts";

/** What an encode is given. */
export interface Encode {
  plan: Plan;
  source: Source;
  /** Opens the source's bytes, for each chunk anew. */
  input(): Promise<ByteReader>;
  /** In order of preference. */
  encoders: readonly Encoder[];
  storage: Storage;
  /** Prefix of the keys of encoded chunks, until they are stitched. */
  work: string;
  /** Prefix of the keys of the output. */
  out: string;
  /** Name of a single output file, without its extension. */
  name: string;
  durably: Durably;
  /** Told percent, or null while the work waits its turn. */
  progress(percent: number | null): Promise<void>;
}

/** What an encode gives. */
export interface Encoded {
  /** Key of the output file; of adaptive video, of its master playlist. */
  key: string;
  /** Bytes of all files of the output. */
  size: number;
  /** Name of the encoder, and why it was chosen. */
  encoder: string;
  reason: string;
}

interface Kept {
  key: string;
  size: number;
}

/**
 * Carries a plan out: every chunk by the first encoder that can, then, where there is more than one, their stitch. Each
 * piece is remembered, so that a restart repeats one at most. Rejects with `encoder_unavailable` when no encoder can.
 */
export async function runEncode(encode: Encode): Promise<Encoded> {
  const { plan, durably, progress } = encode;
  const { encoder, reason } = chooseEncoder(encode.encoders, plan, encode.source);
  const stitched = plan.chunks.length > 1;
  const kept: Kept[] = [];
  let done = 0;
  const weights = plan.chunks.map((chunk) => weightOf(chunk, plan));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, chunk] of plan.chunks.entries()) {
    kept.push(await durably(`chunk-${chunk.index}`, (signal) => encodeChunk(encode, encoder, chunk, signal)));
    done += weights[index] ?? 0;
    // The stitch and the look at the output are still to come.
    await progress(Math.min(98, (done / total) * 98));
  }
  const output = stitched ? await durably("stitch", (signal) => stitchChunks(encode, kept, signal)) : kept[0];
  if (!output) throw new MediaError("internal_error", "The plan has no chunks.");
  return { ...output, encoder: encoder.name, reason };
}

async function encodeChunk(
  encode: Encode,
  encoder: Encoder,
  chunk: Chunk,
  signal: AbortSignal,
): Promise<Kept> {
  const { plan, source, storage } = encode;
  const onWait = () => void encode.progress(null).catch(() => undefined);
  const files = await encoder.encode({ plan, chunk, source, input: await encode.input(), signal, onWait });
  signal.throwIfAborted();
  if (plan.chunks.length > 1) return keepOne(files, storage, `${encode.work}${chunk.index}`);
  if (plan.kind === "adaptive_video") return keepFolder(files, storage, encode.out);
  return keepOne(files, storage, outputKey(encode));
}

async function keepOne(files: readonly EncodedFile[], storage: Storage, key: string): Promise<Kept> {
  const [file, ...others] = files;
  if (!file || others.length > 0)
    throw new MediaError("encode_failed", `The encoder gave ${files.length} files instead of one.`);
  const { size } = await storage.write(key, file.bytes, file.mime);
  return { key, size };
}

// A player that finds the master playlist finds everything else.
async function keepFolder(files: readonly EncodedFile[], storage: Storage, folder: string): Promise<Kept> {
  const ordered = files.toSorted((a, b) => Number(a.name === MASTER) - Number(b.name === MASTER));
  if (ordered.at(-1)?.name !== MASTER)
    throw new MediaError("encode_failed", "The encoder gave no master playlist.");
  let size = 0;
  for (const file of ordered) size += (await storage.write(folder + file.name, file.bytes, file.mime)).size;
  return { key: folder + MASTER, size };
}

async function stitchChunks(encode: Encode, kept: readonly Kept[], signal: AbortSignal): Promise<Kept> {
  const { plan, storage } = encode;
  const parts = await Promise.all(
    kept.map(async ({ key }, index) => ({
      chunk: plan.chunks[index],
      input: await storageReader(storage, key),
    })),
  );
  const video = parts.flatMap(({ chunk, input }) =>
    chunk?.track === "video" ? [{ input, at: chunk.start - plan.start }] : [],
  );
  const audio = parts.find(({ chunk }) => chunk?.track === "audio")?.input ?? null;
  const format = plan.format as VideoFormat;
  const key = outputKey(encode);
  const { size } = await storage.write(
    key,
    stitch({ format, video, audio, signal }),
    FORMATS.video[format].mime,
  );
  return { key, size };
}

function outputKey({ plan, out, name }: Encode): string {
  const facts = FORMATS[plan.kind] as Record<string, { extension: string }>;
  return `${out}${name}.${facts[plan.format]?.extension}`;
}

// Sound is quick beside pictures: about a tenth of their time, second for second.
function weightOf(chunk: Chunk, plan: Plan): number {
  const end = chunk.end ?? plan.start + (plan.duration ?? 1);
  const seconds = Math.max(0.1, end - chunk.start);
  return chunk.track === "audio" ? seconds / 10 : seconds;
}
