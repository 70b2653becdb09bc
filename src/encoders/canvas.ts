import { MediaError } from "../core/errors.ts";
import { FORMATS, type ImageFormat } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import { outputFile } from "../ffmpeg/output.ts";
import type { Plan } from "../plan/plan.ts";
import { tryCanvas } from "./canvas-trial.ts";
import { drawImage } from "./draw-image.ts";
import type { Encoder } from "./encoder.ts";
import { checkReadable } from "./webcodecs-input.ts";

/** The browser's own image encoders behind the port. */
export interface CanvasEncoder extends Encoder {
  /** Tries the format of a plan on this machine, once; `can` answers from what was found. Never rejects. */
  prepare(plan: Plan, source: Source): Promise<void>;
}

const WRITTEN: ReadonlySet<string> = new Set<ImageFormat>(["jpeg", "webp"]);
// Stills that every browser decodes, and that say by themselves whether they are transparent.
const DECODED: ReadonlySet<string> = new Set(["jpeg", "png", "webp", "bmp"]);
// Four bytes each, of the picture as it was and as it becomes.
const MOST_PIXELS = 50_000_000;
// Of JPEG: above it the colors keep their resolution, which browsers halve. Of WebP: 100 would leave nothing out.
const MOST_QUALITY = { jpeg: 89, webp: 99 } as const;

/**
 * Creates the encoder "canvas": opaque stills to JPEG and WebP by the browser itself, which decodes, scales and encodes several times as
 * quickly as the wasm core, and brings colors with a profile to sRGB. In a page or a dedicated worker; a picture is drawn in one go,
 * which an abort does not interrupt.
 */
export function createCanvasEncoder(): CanvasEncoder {
  const tried = new Map<string, Promise<string | null>>();
  const known = new Map<string, string | null>();
  return {
    name: "canvas",
    async prepare({ image, format }) {
      if (!image || !isWritten(format)) return;
      const trial = tried.get(format) ?? tryCanvas(FORMATS.image[format].mime);
      tried.set(format, trial);
      known.set(format, await trial);
    },
    can(plan, source) {
      const { image, format, start } = plan;
      if (!image || !isWritten(format)) return "it only encodes jpeg and webp";
      if (source.kind !== "image" || source.animated === true || start > 0) return "it only draws stills";
      if (!DECODED.has(source.format)) return `it does not draw ${source.format}`;
      if (source.has_alpha !== false || image.alpha) return "it only draws what is opaque";
      if (image.tone_map) return "it cannot map the tones of HDR";
      if ((image.quality ?? 0) > MOST_QUALITY[format]) return `it has no ${format} of that quality`;
      const { geometry } = image;
      const { coded_width = 0, coded_height = 0 } = source;
      const most = Math.max(geometry.width * geometry.height, coded_width * coded_height);
      if (most > MOST_PIXELS) return `a picture of ${most} pixels takes too much memory`;
      const trial = known.get(format);
      return trial === undefined ? "it has not been tried on this machine" : trial;
    },
    async encode({ plan, chunk, source, input, signal, onProgress }) {
      const { image, format } = plan;
      if (!image || !isWritten(format)) {
        throw new MediaError("encode_failed", "There is no picture to encode.");
      }
      const { canvas } = await drawImage({ plan, image, source }, input, signal).catch(
        async (thrown: unknown) => {
          signal.throwIfAborted();
          await checkReadable(input);
          throw thrown;
        },
      );
      signal.throwIfAborted();
      onProgress?.(0.5);
      const { mime } = FORMATS.image[format];
      const blob = await canvas.convertToBlob({ type: mime, quality: (image.quality ?? 0) / 100 });
      if (blob.type !== mime) throw new MediaError("encode_failed", `This browser wrote no ${format}.`);
      const bytes = new Uint8Array(await blob.arrayBuffer());
      signal.throwIfAborted();
      return [{ ...outputFile(plan, chunk), bytes }];
    },
  };
}

function isWritten(format: string): format is keyof typeof MOST_QUALITY {
  return WRITTEN.has(format);
}
