import { MediaError } from "../../core/errors.ts";

/** Settings of libavif, under the names that @jsquash/avif uses. */
export interface AvifSettings {
  /** 0 to 100, higher is better. */
  quality: number;
  /** The same for the alpha channel. */
  qualityAlpha: number;
  /** 0 to 10, higher is faster. */
  speed: number;
}

interface Instance {
  encode(rgba: Uint8Array, width: number, height: number, settings: object): Uint8Array | null;
}
type Factory = (overrides: object) => Promise<Instance>;

export type AvifImports = Record<string, Record<string, unknown>>;

/** Encodes RGBA pixels as AVIF in one synchronous call; to cancel it, terminate its worker. */
export type AvifCodec = (
  pixels: { data: Uint8ClampedArray; width: number; height: number },
  settings: AvifSettings,
) => Promise<Uint8Array>;

// 4:2:0 and tuning for PSNR match the native encoder; the rest are the defaults of @jsquash/avif.
const FIXED = {
  ...{ denoiseLevel: 0, tileColsLog2: 0, tileRowsLog2: 0, subsample: 1, chromaDeltaQ: false },
  ...{ sharpness: 0, tune: 1, enableSharpYUV: false, bitDepth: 8 },
} as const;

/**
 * Loads the single-threaded encoder of @jsquash/avif from the URL of its wasm file. Rejects with `encoder_unavailable`,
 * which is worth a retry, when that fails. `guard` may wrap the functions that the wasm imports. Each picture runs in a
 * fresh instance, so that its memory is released.
 */
export async function loadAvif(
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
    const encoded = instance.encode(bytes, width, height, { ...FIXED, ...settings });
    if (!encoded) throw new MediaError("encode_failed", "The AVIF encoder could not encode the picture.");
    return encoded;
  };
}

async function compile(url: string | URL): Promise<WebAssembly.Module> {
  try {
    const response = await fetch(url);
    if (!response.ok) throw new RangeError(`HTTP ${response.status}`);
    // Not compileStreaming, which needs a content type that not every server sends.
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch (cause) {
    throw new MediaError("encoder_unavailable", "The AVIF encoder could not be loaded.", {
      cause,
      retryable: true,
    });
  }
}
