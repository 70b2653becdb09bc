import { refuseFeatures } from "../../media/features.ts";
import { filterContext } from "../../media/ffmpeg/color.ts";
import { outputFile } from "../../media/ffmpeg/output-files.ts";
import { FORMATS, type ImageFormat } from "../../media/formats.ts";
import { type Plan, plannedOf } from "../../media/plan.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import type { Encoder } from "../encoder.ts";
import * as errors from "../errors.ts";
import { checkReadable } from "../webcodecs/input.ts";
import { drawImage } from "./draw-image.ts";

/** The browser's own image encoders. */
export interface CanvasEncoder extends Encoder {
  /** Tries the format of a plan on this machine, once; `refuse` answers from the result. Never rejects. */
  prepare(plan: Plan, source: Source): Promise<void>;
}

const ENCODABLE: ReadonlySet<string> = new Set<ImageFormat>(["jpeg", "webp"]);
/** Formats of stills that every browser decodes and whose headers show transparency. */
export const CANVAS_INPUTS: ReadonlySet<string> = new Set(["jpeg", "png", "webp", "bmp"]);
/** The most pixels of a picture that a canvas is given; the cores of ffmpeg convert larger ones. */
export const MAX_CANVAS_PIXELS = 50_000_000;
// Above these, JPEG must keep full chroma, which browsers halve, and WebP must be lossless.
const MAX_QUALITY = { jpeg: 89, webp: 99 } as const;

/**
 * Creates the encoder "canvas": opaque stills to JPEG and WebP by the browser itself, which decodes, scales and encodes several times as
 * fast as the wasm core and converts colors with a profile to sRGB. Runs in a page or a dedicated worker. An abort does not interrupt
 * the drawing of a picture.
 */
export function createCanvasEncoder(): CanvasEncoder {
  const trials = new Map<string, Promise<RefusalReason | null>>();
  const results = new Map<string, RefusalReason | null>();
  return {
    name: "canvas",
    async prepare({ image, format }) {
      if (!image || !isEncodable(format)) return;
      const trial = trials.get(format) ?? tryCanvas(format);
      trials.set(format, trial);
      results.set(format, await trial);
    },
    refuse(plan, source) {
      const { image, format, start } = plan;
      if (!image || !isEncodable(format)) return { code: "other_work" };
      if (source.kind !== "image" || source.animated === true || start > 0) return { code: "animated" };
      if (!CANVAS_INPUTS.has(source.format)) return { code: "input_format", format: source.format };
      if (source.has_alpha !== false || image.alpha) return { code: "input_transparent" };
      const featureRefusal = refuseFeatures(plannedOf(plan), source, "canvas", filterContext);
      if (featureRefusal) return featureRefusal;
      if ((image.quality ?? 0) > MAX_QUALITY[format]) return { code: "output_quality", format };
      const { geometry } = image;
      const { coded_width = 0, coded_height = 0 } = source;
      const pixels = Math.max(geometry.width * geometry.height, coded_width * coded_height);
      if (pixels > MAX_CANVAS_PIXELS) return { code: "pixels", pixels, max_pixels: MAX_CANVAS_PIXELS };
      const trial = results.get(format);
      return trial === undefined ? { code: "not_tried" } : trial;
    },
    async encode({ plan, chunk, source, input, signal, onProgress }) {
      const { image, format } = plan;
      if (!image || !isEncodable(format)) throw errors.noPictureToEncode();
      const { canvas } = await drawImage({ plan, image, source }, input, signal).catch(
        async (thrown: unknown) => {
          signal.throwIfAborted();
          await checkReadable(input);
          throw thrown;
        },
      );
      signal.throwIfAborted();
      onProgress?.(0.5);
      const blob = await writeCanvas(canvas, format, image.quality ?? 0);
      const bytes = new Uint8Array(await blob.arrayBuffer());
      signal.throwIfAborted();
      return [{ ...outputFile(plan, chunk), bytes }];
    },
  };
}

/** Writes a canvas in the format of an image, at a quality from 0 to 100, as the encoder "canvas" does. */
export async function writeCanvas(
  canvas: OffscreenCanvas,
  format: ImageFormat,
  quality: number,
): Promise<Blob> {
  const { mime } = FORMATS.image[format];
  const blob = await canvas.convertToBlob({ type: mime, quality: quality / 100 });
  if (blob.type !== mime) throw errors.formatUnwritten({ format });
  return blob;
}

function isEncodable(format: string): format is keyof typeof MAX_QUALITY {
  return ENCODABLE.has(format);
}

const SIDE = 32;
const COLORS = [
  [200, 40, 40],
  [40, 200, 40],
  [40, 40, 200],
  [220, 220, 40],
] as const;
const MAX_COLOR_SHIFT = 24;

/**
 * Draws a few colors, encodes them and checks the result: browsers write PNG instead of unknown formats, and some alter canvases to
 * prevent fingerprinting. Returns the reason why the canvas cannot be used, or null; never rejects.
 */
async function tryCanvas(format: ImageFormat): Promise<RefusalReason | null> {
  if (typeof OffscreenCanvas === "undefined") return { code: "no_canvas" };
  const { mime } = FORMATS.image[format];
  const unwritten = { code: "output_format", format, animated: false } as const;
  try {
    const context = open();
    for (const [index, color] of COLORS.entries()) {
      context.fillStyle = `rgb(${color.join()})`;
      context.fillRect(index * SIDE, 0, SIDE, SIDE);
    }
    if (maxDifference(context) > 0) return CANVAS_ALTERED;
    const blob = await context.canvas.convertToBlob({ type: mime, quality: 0.9 });
    if (blob.type !== mime) return unwritten;
    const bitmap = await createImageBitmap(blob);
    const copy = open();
    copy.drawImage(bitmap, 0, 0);
    bitmap.close();
    return maxDifference(copy) > MAX_COLOR_SHIFT ? CANVAS_ALTERED : null;
  } catch {
    return unwritten;
  }
}

const CANVAS_ALTERED = { code: "canvas_altered" } as const;

function open(): OffscreenCanvasRenderingContext2D {
  const canvas = new OffscreenCanvas(SIDE * COLORS.length, SIDE);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw errors.canvasMissing();
  return context;
}

function maxDifference(context: OffscreenCanvasRenderingContext2D): number {
  let max = 0;
  for (const [index, color] of COLORS.entries()) {
    const { data } = context.getImageData(index * SIDE + SIDE / 4, SIDE / 4, SIDE / 2, SIDE / 2);
    for (let at = 0; at < data.length; at += 4) {
      for (const [channel, value] of color.entries()) {
        max = Math.max(max, Math.abs((data[at + channel] ?? 0) - value));
      }
    }
  }
  return max;
}
