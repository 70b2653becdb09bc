import { MediaError } from "../../core/errors.ts";
import type { Source } from "../../core/source.ts";
import { filterContext } from "../../ffmpeg/color.ts";
import { outputFile } from "../../ffmpeg/output.ts";
import { refuseFeatures } from "../../media/features.ts";
import { type Plan, plannedOf } from "../../plan/plan.ts";
import type { Encoder } from "../encoder.ts";
import { checkReadable } from "../webcodecs/webcodecs-input.ts";
import { createDecoders } from "../webcodecs/webcodecs-source.ts";
import { type AvifCodec, type AvifImports, loadAvif } from "./avif-wasm.ts";
import { DECODED, drawImage } from "./draw-image.ts";

/** Options of {@link createAvifEncoder}. */
export interface AvifOptions {
  /** URL of `@jsquash/avif/codec/enc/avif_enc.wasm`; fetched when the first picture is encoded. */
  wasm: string | URL;
  /** Wraps the functions that the wasm imports, so that a running encode can be interrupted. */
  guard?: (imports: AvifImports) => void;
}

/** The AVIF encoder. */
export interface AvifEncoder extends Encoder {
  /** Checks that the browser can decode a source; `refuse` answers from the result. Never rejects. */
  prepare(plan: Plan, source: Source): Promise<void>;
}

// libavif holds several copies of four bytes a pixel in at most 2 GiB of memory.
const MOST_PIXELS = 50_000_000;
const SPEED = 7;

/**
 * Creates the encoder "avif": stills encoded by libavif in wasm and drawn on a canvas, in a page or a dedicated worker. A
 * picture is encoded in one synchronous call that an abort does not interrupt: run it where it can be terminated. `encode`
 * rejects with `encoder_unavailable` when the wasm cannot be loaded; the next picture tries again.
 */
export function createAvifEncoder({ wasm, guard }: AvifOptions): AvifEncoder {
  const decoders = createDecoders();
  let loading: Promise<AvifCodec> | null = null;
  const load = async (): Promise<AvifCodec> => {
    loading ??= loadAvif(wasm, guard);
    try {
      return await loading;
    } catch (thrown) {
      loading = null;
      throw thrown;
    }
  };
  return {
    name: "avif",
    async prepare(_, source) {
      if (source.kind !== "image") await decoders.prepare(source);
    },
    refuse(plan, source) {
      const { image } = plan;
      if (!image || plan.format !== "avif") return { code: "other_work" };
      const undone = refuseFeatures(plannedOf(plan), filterContext(source, "avif"));
      if (undone) return undone;
      const pixels = image.geometry.width * image.geometry.height;
      if (pixels > MOST_PIXELS) return { code: "pixels", pixels, max_pixels: MOST_PIXELS };
      if (source.kind !== "image") return decoders.refuse(source);
      if (!DECODED.has(source.format)) return { code: "input_format", format: source.format };
      return plan.start > 0 ? { code: "animated" } : null;
    },
    async encode({ plan, chunk, source, input, signal, onProgress }) {
      const { image } = plan;
      if (!image) throw new MediaError("encode_failed", "There is no picture to encode.");
      const [codec, drawn] = await Promise.all([
        load(),
        drawImage({ plan, image, source }, input, signal),
      ]).catch(async (thrown: unknown) => {
        signal.throwIfAborted();
        await checkReadable(input);
        throw thrown;
      });
      signal.throwIfAborted();
      onProgress?.(0.1);
      const { width, height } = drawn.canvas;
      const pixels = drawn.getImageData(0, 0, width, height);
      const quality = qualityOf(image.quality ?? 0);
      const bytes = await codec(pixels, { quality, qualityAlpha: quality, speed: SPEED });
      signal.throwIfAborted();
      return [{ ...outputFile(plan, chunk), bytes }];
    },
  };
}

// libavif maps its 0 to 100 linearly to quantizers 63 to 0.
function qualityOf(quantizer: number): number {
  return Math.round(100 - (quantizer * 100) / 63);
}
