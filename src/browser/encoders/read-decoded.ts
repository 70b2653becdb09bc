import { MediaError } from "../../core/errors.ts";
import { BOUNDS } from "../../core/formats.ts";
import type { ByteReader } from "../../core/ports.ts";
import type { RefusalReason } from "../../core/refusal.ts";
import type { Source } from "../../core/source.ts";
import type { ChunkJob } from "../../encoders/encoder.ts";
import { decodedFormat } from "../../encoders/images/decode-picture.ts";
import { decodedPlan, decodedSource, needsDecoder } from "../../plan/image/decoded.ts";
import { drawnPlan } from "../../plan/image/drawn.ts";
import type { Plan } from "../../plan/index.ts";
import { sizeSvg } from "../../probe/svg-root.ts";
import { blobOf, createBlobReader } from "../../storage/readers.ts";
import type { PageAsks } from "../media-worker/page-asks.ts";
import type { LocalEncoder } from "./local-offers.ts";

// Four bytes each, in several copies.
const MOST_PIXELS = 50_000_000;
const LIMITS = { pixels: MOST_PIXELS, side: BOUNDS.pixels.max } as const;

/**
 * Returns a wrapper that adds a decoder to an encoder: it turns a source that the encoder cannot decode into a BMP or PNG first.
 * `draw` does so with an SVG.
 */
export function readDecoded(
  decoder: Pick<LocalEncoder, "encode">,
  draw: PageAsks["draw"],
): (encoder: LocalEncoder) => LocalEncoder {
  // All chunks share one decode.
  const decoded = new WeakMap<ByteReader, Promise<Blob>>();

  async function decode(job: ChunkJob): Promise<Blob> {
    if (isVector(job.source)) return drawVector(job, draw);
    const files = await decoder.encode({ ...job, onProgress: () => {} });
    const [file] = Array.isArray(files) ? files : [];
    if (!file) throw new MediaError("encode_failed", "The decoder returned no picture.");
    return new Blob([file.bytes as Uint8Array<ArrayBuffer>], { type: file.mime });
  }

  async function prepareJob(job: ChunkJob): Promise<ChunkJob> {
    const { plan, source, input, signal } = job;
    // An SVG is drawn at the size of each output.
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
      const given = isDecoded(plan, source) ? asDecoded(plan, source) : { plan, source };
      await encoder.prepare?.(given.plan, given.source);
    },
    async encode(job) {
      return encoder.encode(isDecoded(job.plan, job.source) ? await prepareJob(job) : job);
    },
  });
}

function isDecoded({ image, video }: Plan, source: Source): boolean {
  const reads = image !== null || video?.mode === "encode";
  return reads && (needsDecoder(source) || movesInAvif(source));
}

// ffmpeg's cores decode no AV1.
function movesInAvif({ kind, format, animated, color }: Source): boolean {
  return kind === "image" && format === "avif" && animated === true && color?.hdr !== true;
}

function asDecoded(plan: Plan, source: Source, filesize?: number): { plan: Plan; source: Source } {
  const upright = decodedPlan(plan, source);
  const drawn = isVector(source) ? drawnPlan(upright, source, LIMITS) : { plan: upright, size: {} };
  const decoded = decodedSource({ ...source, ...drawn.size }, decodedFormat(source));
  const { premultiplied: _, ...straight } = decoded;
  return { plan: drawn.plan, source: { ...straight, color: SRGB, filesize: filesize ?? bytesOf(decoded) } };
}

function isVector({ format }: Source): boolean {
  return format === "svg";
}

async function drawVector({ plan, source, input, signal }: ChunkJob, draw: PageAsks["draw"]): Promise<Blob> {
  const { width = 1, height = 1 } = source;
  const text = await (await blobOf(input, signal)).text();
  const file = new Blob([sizeSvg(text, { width, height })], { type: "image/svg+xml" });
  return draw(file, drawnPlan(decodedPlan(plan, source), source, LIMITS).size, signal);
}

// The colors of a canvas.
const SRGB = { range: "full", bit_depth: 8, hdr: false } as const;

function bytesOf({ width = 0, height = 0 }: Source): number {
  return width * height * 3;
}

function refuseDecoding(plan: Plan, source: Source): RefusalReason | null {
  const { image, video } = plan;
  const { format, animated } = source;
  // libheif decodes the picture that stands for a sequence.
  const isStill = image !== null && !image.animated && plan.start === 0;
  const unread =
    format === "heic" ? animated && !isStill : movesInAvif(source) && !("ImageDecoder" in globalThis);
  if (unread) return { code: "input_format", format: `animated ${format}` };
  // A canvas holds eight bits of SDR.
  if (image?.tone_map || (video?.mode === "encode" && video.tone_map)) return { code: "tone_mapping" };
  const { width = 0, height = 0 } = asDecoded(plan, source).source;
  const pixels = width * height;
  return pixels > MOST_PIXELS ? { code: "pixels", pixels, max_pixels: MOST_PIXELS } : null;
}
