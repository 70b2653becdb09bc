import { MediaError, toMediaError } from "../core/errors.ts";
import type { VideoFormat } from "../core/formats.ts";
import type { ByteReader, Durably, Storage } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { outputFile } from "../ffmpeg/output.ts";
import type { Chunk, Plan } from "../plan/plan.ts";
import { storageReader } from "../storage/storage-reader.ts";
import { finishStream } from "./adaptive-files.ts";
import { chooseEncoder } from "./choose-encoder.ts";
import type { EncodedFile, Encoder } from "./encoder.ts";
import { stitch } from "./stitch.ts";

/** What an encode is run with. */
export interface EncodeRun {
  plan: Plan;
  source: Source;
  /** Opens the source for random access; called once for each chunk. */
  input(): Promise<ByteReader>;
  /** In order of preference. */
  encoders: readonly Encoder[];
  storage: Storage;
  /** Start of the keys of encoded chunks, until they are stitched. */
  work: string;
  /** Start of the keys of the output. */
  out: string;
  /** Name of the output without its extension; adaptive video keeps its own names. */
  name: string;
  durably: Durably;
  /** Is told percent done, or null now and then while the work waits for a free encoder. */
  progress(percent: number | null): Promise<void>;
  signal?: AbortSignal | undefined;
}

/** One file of the output as it is stored. */
export interface StoredFile {
  key: string;
  mime: string;
  /** Bytes. */
  size: number;
}

/** What an encode gave. */
export interface EncodeResult {
  /** The file to open: the only one, or the master playlist. */
  key: string;
  /** Every file, the one to open last. */
  files: StoredFile[];
  /** Bytes of all files. */
  size: number;
  /** Name of the encoder that did the work. */
  encoder: string;
  /** Why that encoder was chosen, in a few plain words. */
  reason: string;
}

/**
 * Carries a plan out on the first encoder that can: encodes its chunks, stitches them where there are several, and stores the output.
 * Every piece runs durably and writes the same keys again when repeated. Rejects with `encoder_unavailable` when no encoder can, with
 * every reason; else as the encoder does. Nothing of the output is left behind by a failure.
 */
export async function runEncode(run: EncodeRun): Promise<EncodeResult> {
  const { plan } = run;
  const { encoder, reason } = chooseEncoder(run.encoders, plan, run.source);
  await run.progress(0);
  const [only, ...more] = plan.chunks;
  if (!only) throw new MediaError("internal_error", "The plan has nothing to encode.");
  const files =
    more.length === 0 ? await encodeWhole(run, encoder, only) : await encodeParts(run, encoder, only);
  const main = files[files.length - 1];
  if (!main) throw new MediaError("encode_failed", `The ${encoder.name} encoder gave nothing.`);
  await run.progress(100);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return { key: main.key, files, size, encoder: encoder.name, reason };
}

function encodeWhole(run: EncodeRun, encoder: Encoder, chunk: Chunk): Promise<StoredFile[]> {
  return run.durably("encode", async (signal) => {
    const { plan, source } = run;
    const encoded = await encodeChunk(run, encoder, chunk, signal);
    if (plan.kind === "adaptive_video") {
      const files = finishStream(asFiles(encoded), plan, source);
      return storeAll(
        run,
        files.map((file) => ({ ...file, key: run.out + file.name })),
      );
    }
    const { key, mime } = target(run, chunk);
    const [bytes] = encoded instanceof ReadableStream ? [encoded] : encoded.map((file) => file.bytes);
    return storeAll(run, bytes ? [{ key, mime, bytes }] : []);
  });
}

async function encodeParts(run: EncodeRun, encoder: Encoder, first: Chunk): Promise<StoredFile[]> {
  const { plan, storage, durably } = run;
  const parts: { chunk: Chunk; key: string }[] = [];
  for (const chunk of plan.chunks) {
    const key = await durably(`encode chunk ${chunk.index}`, async (signal) => {
      const [file] = asFiles(await encodeChunk(run, encoder, chunk, signal));
      const { name, mime } = outputFile(plan, chunk);
      const stored = `${run.work}${chunk.index}-${name}`;
      await storage.write(stored, file?.bytes ?? new Uint8Array(), mime);
      return stored;
    });
    parts.push({ chunk, key });
    // Stitching copies; it takes a small share of the time.
    await run.progress((parts.length / plan.chunks.length) * 95);
  }
  const { key, mime } = target(run, { ...first, track: "all" });
  const size = await durably("stitch", async (signal) => {
    const open = (part: { key: string }) => storageReader(storage, part.key);
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
      signal: both(run, signal),
    });
    return (await storage.write(key, body, mime)).size;
  });
  await durably("tidy", async () => {
    await storage.clear(run.work);
    return null;
  });
  return [{ key, mime, size }];
}

function target(run: EncodeRun, chunk: Chunk): { key: string; mime: string } {
  const { name, mime } = outputFile(run.plan, chunk);
  return { key: run.out + run.name + name.slice(name.lastIndexOf(".")), mime };
}

async function encodeChunk(
  run: EncodeRun,
  encoder: Encoder,
  chunk: Chunk,
  durable: AbortSignal,
): Promise<EncodedFile[] | ReadableStream<Uint8Array>> {
  const signal = both(run, durable);
  const input = await run.input();
  let telling = false;
  const onWait = () => {
    if (telling) return;
    telling = true;
    // A run that is over hears so by its signal.
    run.progress(null).then(
      () => {
        telling = false;
      },
      () => {},
    );
  };
  try {
    const files = await encoder.encode({ plan: run.plan, chunk, source: run.source, input, signal, onWait });
    if (files instanceof ReadableStream) return files;
    if (files.length > 0 && files.every((file) => file.bytes.length > 0)) return files;
  } catch (thrown) {
    signal.throwIfAborted();
    throw toMediaError(thrown, "encode_failed");
  }
  throw new MediaError("encode_failed", `The ${encoder.name} encoder gave an empty file.`);
}

function asFiles(encoded: EncodedFile[] | ReadableStream<Uint8Array>): EncodedFile[] {
  if (!(encoded instanceof ReadableStream)) return encoded;
  throw new MediaError("encode_failed", "The encoder gave one stream where files were wanted.");
}

// In order, so that the file to open is there only when all it names is; a failure takes back what was written.
async function storeAll(
  { storage, out }: EncodeRun,
  files: readonly { key: string; mime: string; bytes: Uint8Array | ReadableStream<Uint8Array> }[],
): Promise<StoredFile[]> {
  const stored: StoredFile[] = [];
  try {
    for (const { key, mime, bytes } of files) {
      const { size } = await storage.write(key, bytes, mime);
      stored.push({ key, mime, size });
    }
    return stored;
  } catch (thrown) {
    await storage.clear(out).catch(() => {});
    throw thrown;
  }
}

function both(run: EncodeRun, signal: AbortSignal): AbortSignal {
  return run.signal ? AbortSignal.any([run.signal, signal]) : signal;
}
