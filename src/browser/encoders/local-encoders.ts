import { createCopyEncoder } from "../../encoders/copy.ts";
import type { ChunkJob, Encoder } from "../../encoders/encoder.ts";
import { createAvifEncoder } from "../../encoders/images/avif.ts";
import { createCanvasEncoder, MAX_CANVAS_PIXELS } from "../../encoders/images/canvas.ts";
import { decodedFormat } from "../../encoders/images/decode-picture.ts";
import { loadCore, loadFastCore, loadVp9Core } from "../../encoders/wasm/load-core.ts";
import { createWasmMt } from "../../encoders/wasm/wasm-mt.ts";
import { createWasmPool, type WasmPool } from "../../encoders/wasm/wasm-pool.ts";
import type { SoundEncoder } from "../../encoders/webcodecs/sound.ts";
import { createWebCodecsEncoder } from "../../encoders/webcodecs/webcodecs.ts";
import { isVector, pictureFormat } from "../../media/containers.ts";
import {
  composesFrames,
  decodedPlan,
  decodedSource,
  decodesFrames,
  drawnPlan,
  needsDecoder,
} from "../../media/decoded-pictures.ts";
import { MediaError } from "../../media/errors.ts";
import { refuseFeature } from "../../media/features.ts";
import { BOUNDS } from "../../media/formats.ts";
import type { Plan } from "../../media/index.ts";
import { plannedOf, sourceSeconds } from "../../media/plan.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import { CHUNK_SECONDS } from "../../media/timeline.ts";
import { decodeSvg, sizeSvg } from "../../probe/svg.ts";
import type { ByteReader } from "../../runs/ports.ts";
import { blobOf, createBlobReader } from "../../storage/readers.ts";
import * as errors from "../errors.ts";
import type { MediaSettings } from "../media-api.ts";
import type { PageRequests } from "../media-worker/page-requests.ts";
import { runIsolated } from "./isolated-encoder.ts";
import type { LocalEncoder } from "./local-offers.ts";

export type EncoderSettings = Pick<
  MediaSettings,
  "prefer" | "encoderWorkers" | "core" | "threadedCore" | "avif"
>;

export interface LocalEncoders {
  /** The encoders in order of preference. */
  ordered: LocalEncoder[];
  /** The one that also probes files. */
  pool: WasmPool;
}

// H.264 encoders leave processors idle unless two run in parallel; VP9 and AV1 encoders use them all.
const WEBCODECS_WORKERS = 2;
const WORTH_SECONDS = 8;

// Indexing a large WebM and encoding a large AVIF take minutes without reports.
const SILENCE_SECONDS = 300;

/** Creates the encoders of this machine in order of preference, copying first. `draw` has the page draw an SVG. */
export function createLocalEncoders(settings: EncoderSettings, draw: PageRequests["draw"]): LocalEncoders {
  const { prefer, encoderWorkers, core, threadedCore, avif } = settings;
  const { fast: url, vp9, font: _, fonts: __, ...stock } = core ?? {};
  const pool = createWasmPool({
    load: () => loadCore(stock),
    loadFast: () => loadFastCore({ wasm: url ?? undefined, cache: stock.cache }),
    loadVp9: () => loadVp9Core({ wasm: vp9, cache: stock.cache }),
    ...(encoderWorkers !== null && { workers: encoderWorkers }),
  });
  const cores = url === null ? [pool] : [pool.fast, pool];
  const limits = { workers: pool.workers, silenceSeconds: SILENCE_SECONDS };
  const copy = runIsolated(startCopy, limits)(createCopyEncoder());
  const wasm = new URL(avif ?? AVIF_WASM, location.href).href;
  const runImages = runIsolated((lease) => startImage(`${wasm} ${lease}`), limits);
  const [avifEncoder, canvas] = [runImages(createAvifEncoder({ wasm })), runImages(createCanvasEncoder())];
  const images = [avifEncoder, withSpare(canvas, pool)];
  const decoder = runIsolated(
    startDecoder,
    limits,
  )({ name: "picture", refuse: () => null, encode: refuseEncode });
  const threaded = createWasmMt({ core: threadedCore });
  const webcodecs: LocalEncoder = {
    ...createWebCodecsEncoder({ sound: url === null ? pool : preferFast(pool) }),
    workers: WEBCODECS_WORKERS,
    chunkSeconds: webcodecsChunkSeconds,
  };
  const rest = prefer === "speed" ? [webcodecs, ...cores, threaded] : [...cores, threaded, webcodecs];
  return { ordered: [copy, ...[...images, ...rest].map(withDecoder(decoder, draw))], pool };
}

// Browsers refuse a still with a missing end or a wrong checksum; ffmpeg reads it.
function withSpare(encoder: LocalEncoder, spare: Encoder): LocalEncoder {
  return {
    ...encoder,
    async encode(job) {
      try {
        return await encoder.encode(job);
      } catch (thrown) {
        job.signal.throwIfAborted();
        const isUndecoded = thrown instanceof MediaError && thrown.kind === "input_unsupported";
        if (!isUndecoded || spare.refuse(job.plan, job.source)) throw thrown;
        return spare.encode(job);
      }
    },
  };
}

function refuseEncode(): never {
  throw errors.notHere();
}

function preferFast(pool: WasmPool): SoundEncoder {
  const { fast } = pool;
  const pick = (plan: Plan, source: Source) => (fast.refuse(plan, source) ? pool : fast);
  return {
    name: pool.name,
    prepare: fast.prepare,
    refuse: (plan, source) => pick(plan, source).refuse(plan, source),
    encode: (job) => pick(job.plan, job.source).encode(job),
  };
}

// Bundlers look for exactly this expression.
const AVIF_WASM = new URL("@jsquash/avif/codec/enc/avif_enc.wasm", import.meta.url);

function startCopy(): Worker {
  return new Worker(new URL("./copy-worker.ts", import.meta.url), { type: "module" });
}

function startDecoder(name: string): Worker {
  return new Worker(new URL("./decode-worker.ts", import.meta.url), { type: "module", name });
}

function startImage(name: string): Worker {
  return new Worker(new URL("./image-worker.ts", import.meta.url), { type: "module", name });
}

function webcodecsChunkSeconds(plan: Plan): number {
  const { video } = plan;
  const duration = sourceSeconds(plan);
  const h264 = video?.mode === "encode" && video.codec === "h264";
  if (!h264 || duration === null || duration < WORTH_SECONDS) return CHUNK_SECONDS;
  return Math.min(CHUNK_SECONDS, duration / WEBCODECS_WORKERS);
}

const LIMITS = { pixels: MAX_CANVAS_PIXELS, side: BOUNDS.pixels.max } as const;

/**
 * Returns a wrapper that decodes a source that the encoder cannot read into a BMP or PNG first; `draw` does so for an SVG.
 */
function withDecoder(
  decoder: Pick<LocalEncoder, "encode">,
  draw: PageRequests["draw"],
): (encoder: LocalEncoder) => LocalEncoder {
  const decoded = new WeakMap<ByteReader, Promise<Blob>>();

  async function decode(job: ChunkJob): Promise<Blob> {
    if (isVector(job.source)) return drawVector(job, draw);
    const files = await decoder.encode({ ...job, onProgress: () => {} });
    const [file] = Array.isArray(files) ? files : [];
    if (!file) throw errors.pictureMissing();
    return new Blob([file.bytes as Uint8Array<ArrayBuffer>], { type: file.mime });
  }

  async function prepareJob(job: ChunkJob): Promise<ChunkJob> {
    const { plan, source, input, signal } = job;
    // Each output draws an SVG at its own size.
    const decoding = (isVector(source) ? null : decoded.get(input)) ?? decode(job);
    decoded.set(input, decoding);
    const blob = await decoding.catch((thrown: unknown) => {
      decoded.delete(input);
      throw thrown;
    });
    signal.throwIfAborted();
    return { ...job, ...asDecoded(plan, source, blob.size), input: createBlobReader(blob) };
  }

  return (encoder) => ({
    ...encoder,
    refuse(plan, source) {
      if (!isDecoded(plan, source)) return encoder.refuse(plan, source);
      const decoded = asDecoded(plan, source);
      return refuseDecoding(plan, source) ?? encoder.refuse(decoded.plan, decoded.source);
    },
    async prepare(plan, source) {
      const input = isDecoded(plan, source) ? asDecoded(plan, source) : { plan, source };
      await encoder.prepare?.(input.plan, input.source);
    },
    async encode(job) {
      return encoder.encode(isDecoded(job.plan, job.source) ? await prepareJob(job) : job);
    },
  });
}

function isDecoded({ image, video }: Plan, source: Source): boolean {
  const reads = image !== null || video?.mode === "encode";
  return reads && (needsDecoder(source) || isAnimatedAvif(source));
}

// ffmpeg's cores decode no AV1.
function isAnimatedAvif({ kind, format, animated, color }: Source): boolean {
  return (
    kind === "image" && pictureFormat(format).decoder === "stills" && animated === true && color?.hdr !== true
  );
}

function asDecoded(plan: Plan, source: Source, filesize?: number): { plan: Plan; source: Source } {
  const turned = decodedPlan(plan, source);
  const upright = decodesToSrgb(source) ? inSrgb(turned) : turned;
  const vector = isVector(source) ? drawnPlan(upright, source, LIMITS) : { plan: upright, size: {} };
  const decoded = decodedSource({ ...source, ...vector.size }, decodedFormat(source));
  const { premultiplied: _, ...straight } = decoded;
  return { plan: vector.plan, source: { ...straight, color: SRGB, filesize: filesize ?? bytesOf(decoded) } };
}

function decodesToSrgb(source: Source): boolean {
  return !composesFrames(source) || source.animated !== true;
}

// A browser converts the colors of a profile while it decodes.
function inSrgb({ image, video, ...plan }: Plan): Plan {
  const converted = <T extends object>({ to_srgb: _, ...rest }: T & { to_srgb?: unknown }) => rest;
  return {
    ...plan,
    image: image && converted(image),
    video: video?.mode === "encode" ? converted(video) : video,
  };
}

async function drawVector(
  { plan, source, input, signal }: ChunkJob,
  draw: PageRequests["draw"],
): Promise<Blob> {
  const { width = 1, height = 1 } = source;
  const text = decodeSvg(new Uint8Array(await (await blobOf(input, signal)).arrayBuffer())) ?? "";
  const file = new Blob([sizeSvg(text, { width, height })], { type: "image/svg+xml" });
  return draw(file, drawnPlan(decodedPlan(plan, source), source, LIMITS).size, signal);
}

const SRGB = { range: "full", bit_depth: 8, hdr: false } as const;

function bytesOf({ width = 0, height = 0 }: Source): number {
  return width * height * 3;
}

function refuseDecoding(plan: Plan, source: Source): RefusalReason | null {
  const { image } = plan;
  const { format, animated } = source;
  const isStill = image !== null && !image.animated && plan.start === 0;
  const isSequence = animated && !decodesFrames(source);
  const isUnreadable =
    (isSequence && !isStill) || (isAnimatedAvif(source) && !("ImageDecoder" in globalThis));
  if (isUnreadable) return { code: "input_format", format: `animated ${format}` };
  // A canvas holds eight bits of SDR.
  const toneMapping = refuseFeature("tone_map", plannedOf(plan));
  if (toneMapping) return toneMapping;
  const { width = 0, height = 0 } = asDecoded(plan, source).source;
  const pixels = width * height;
  return pixels > MAX_CANVAS_PIXELS ? { code: "pixels", pixels, max_pixels: MAX_CANVAS_PIXELS } : null;
}
