import { refuseFeatures } from "../../media/features.ts";
import { filterContext } from "../../media/ffmpeg/color.ts";
import { outputFile } from "../../media/ffmpeg/output-files.ts";
import { type Plan, plannedOf } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import type { Encoder } from "../encoder.ts";
import * as errors from "../errors.ts";
import { checkReadable, createDecoders } from "../webcodecs/input.ts";
import { DECODABLE, drawImage } from "./draw-image.ts";

/** Options of {@link createAvifEncoder}. */
export interface AvifOptions {
  /** URL of `@jsquash/avif/codec/enc/avif_enc.wasm`, plain or gzipped; fetched when the first picture is encoded. */
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
const MAX_PIXELS = 50_000_000;
const SPEED = 7;

/**
 * Creates the encoder "avif": stills drawn on a canvas and encoded by libavif in wasm, in a page or a dedicated worker. An abort does
 * not interrupt the synchronous encode, so run it in a terminable worker. `encode` rejects with `encoder_unavailable` when the wasm
 * cannot be loaded; the next picture tries again.
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
      const featureRefusal = refuseFeatures(plannedOf(plan), source, "avif", filterContext);
      if (featureRefusal) return featureRefusal;
      const pixels = image.geometry.width * image.geometry.height;
      if (pixels > MAX_PIXELS) return { code: "pixels", pixels, max_pixels: MAX_PIXELS };
      if (source.kind !== "image") return decoders.refuse(source);
      if (!DECODABLE.has(source.format)) return { code: "input_format", format: source.format };
      return plan.start > 0 ? { code: "animated" } : null;
    },
    async encode({ plan, chunk, source, input, signal, onProgress }) {
      const { image } = plan;
      if (!image) throw errors.noPictureToEncode();
      const [codec, context] = await Promise.all([
        load(),
        drawImage({ plan, image, source }, input, signal),
      ]).catch(async (thrown: unknown) => {
        signal.throwIfAborted();
        await checkReadable(input);
        throw thrown;
      });
      signal.throwIfAborted();
      onProgress?.(0.1);
      const { width, height } = context.canvas;
      const pixels = context.getImageData(0, 0, width, height);
      const quality = qualityOf(image.quality ?? 0);
      const bytes = await codec(pixels, { quality, qualityAlpha: quality, speed: SPEED });
      signal.throwIfAborted();
      return [{ ...outputFile(plan, chunk), bytes }];
    },
  };
}

function qualityOf(quantizer: number): number {
  return Math.round(100 - (quantizer * 100) / 63);
}

/** Settings of libavif, under the names that @jsquash/avif uses. */
export interface AvifSettings {
  /** 0 to 100, higher is better. */
  quality: number;
  /** Quality of the alpha channel. */
  qualityAlpha: number;
  /** 0 to 10, higher is faster. */
  speed: number;
}

interface Instance {
  encode(rgba: Uint8Array, width: number, height: number, settings: object): Uint8Array | null;
}
type Factory = (overrides: object) => Promise<Instance>;

type AvifImports = Record<string, Record<string, unknown>>;

/** Encodes RGBA pixels as AVIF in one synchronous call; to cancel it, terminate its worker. */
type AvifCodec = (
  pixels: { data: Uint8ClampedArray; width: number; height: number },
  settings: AvifSettings,
) => Promise<Uint8Array>;

// The native encoder also uses 4:2:0 and tunes for PSNR; the others are defaults of @jsquash/avif.
const FIXED_SETTINGS = {
  denoiseLevel: 0,
  tileColsLog2: 0,
  tileRowsLog2: 0,
  subsample: 1,
  chromaDeltaQ: false,
  sharpness: 0,
  tune: 1,
  enableSharpYUV: false,
  bitDepth: 8,
} as const;

/**
 * Loads the single-threaded encoder of @jsquash/avif from the URL of its wasm file. Rejects with a retryable `encoder_unavailable` when
 * that fails. `guard` may wrap the functions that the wasm imports. Each picture runs in a fresh instance, so that its memory is
 * released.
 */
async function loadAvif(
  url: string | URL,
  guard: (imports: AvifImports) => void = () => {},
): Promise<AvifCodec> {
  const [{ default: create }, module] = await Promise.all([
    import("@jsquash/avif/codec/enc/avif_enc.js") as Promise<{ default: unknown }>,
    compile(url),
  ]);
  return async ({ data, width, height }, settings) => {
    const instance = await (create as Factory)({
      noInitialRun: true,
      instantiateWasm(imports: AvifImports, done: (instance: WebAssembly.Instance) => void) {
        guard(imports);
        WebAssembly.instantiate(module, imports as WebAssembly.Imports).then(done, () => {});
        return {};
      },
    });
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const encoded = instance.encode(bytes, width, height, { ...FIXED_SETTINGS, ...settings });
    if (!encoded) throw errors.avifUnencoded();
    return encoded;
  };
}

async function compile(url: string | URL): Promise<WebAssembly.Module> {
  try {
    const response = await fetch(url);
    if (!response.ok) throw errors.httpStatus({ status: response.status });
    // compileStreaming needs a content type that not every server sends.
    return await WebAssembly.compile(await inflateGzip(new Uint8Array(await response.arrayBuffer())));
  } catch (cause) {
    throw errors.avifUnloaded({ cause });
  }
}

// The browser may have unpacked the gzip already (Content-Encoding), so look at the bytes.
async function inflateGzip(bytes: Uint8Array<ArrayBuffer>): Promise<BufferSource> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
