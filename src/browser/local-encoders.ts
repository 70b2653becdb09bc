import { createAvifEncoder } from "../encoders/avif.ts";
import { createCanvasEncoder } from "../encoders/canvas.ts";
import { createCopyEncoder } from "../encoders/copy.ts";
import { loadCore } from "../encoders/core-load.ts";
import { createWasmMt } from "../encoders/wasm-mt.ts";
import { createWasmPool, type WasmPool } from "../encoders/wasm-pool.ts";
import { createWebCodecsEncoder } from "../encoders/webcodecs.ts";
import { CHUNK_SECONDS } from "../plan/chunks.ts";
import type { Plan } from "../plan/index.ts";
import { runApart } from "./apart.ts";
import type { LocalEncoder } from "./choose-way.ts";
import type { MediaSettings } from "./media-api.ts";

/** What of the settings the encoders are made with. */
export type EncoderSettings = Pick<MediaSettings, "prefer" | "encoder_workers" | "core" | "core_mt" | "avif">;

/** The encoders of this machine. */
export interface LocalEncoders {
  /** In the order in which they are asked. */
  ordered: LocalEncoder[];
  /** The one that also looks into files. */
  pool: WasmPool;
}

// The encoders of VP9 and AV1 use all processors by themselves; that of H.264 leaves some idle, unless two run side by side.
const WEBCODECS_WORKERS = 2;
const WORTH_SECONDS = 8;

// To index a large WebM, and to compute a large AVIF, takes minutes without a word.
const SILENCE_SECONDS = 300;

/** Creates the encoders of this machine, in the order that the preference says: what copies comes first in any case. */
export function createLocalEncoders(settings: EncoderSettings): LocalEncoders {
  const { prefer, encoder_workers, core, core_mt, avif } = settings;
  const load = () => loadCore({ ...core });
  const pool = createWasmPool({ load, ...(encoder_workers !== null && { workers: encoder_workers }) });
  const limits = { workers: pool.workers, silence_seconds: SILENCE_SECONDS };
  const copy = runApart(startCopy, limits)(createCopyEncoder());
  const wasm = new URL(avif ?? AVIF_WASM, location.href).href;
  const runImages = runApart((life) => startImage(`${wasm} ${life}`), limits);
  const images = [createAvifEncoder({ wasm }), createCanvasEncoder()].map(runImages);
  const threaded = createWasmMt({ core: core_mt });
  const webcodecs: LocalEncoder = {
    ...createWebCodecsEncoder({ sound: pool }),
    workers: WEBCODECS_WORKERS,
    chunkSeconds: webcodecsChunk,
  };
  const rest = prefer === "speed" ? [webcodecs, pool, threaded] : [pool, threaded, webcodecs];
  return { ordered: [copy, ...images, ...rest], pool };
}

// Spelled out so that bundlers find these files.
const AVIF_WASM = new URL("@jsquash/avif/codec/enc/avif_enc.wasm", import.meta.url);

function startCopy(): Worker {
  return new Worker(new URL("./copy-worker.ts", import.meta.url), { type: "module" });
}

function startImage(name: string): Worker {
  return new Worker(new URL("./image-worker.ts", import.meta.url), { type: "module", name });
}

// What is long is cut in any case, so that a reload does not begin it anew.
function webcodecsChunk({ video, duration }: Plan): number {
  const h264 = video?.mode === "encode" && video.codec === "h264";
  if (!h264 || duration === null || duration < WORTH_SECONDS) return CHUNK_SECONDS;
  return Math.min(CHUNK_SECONDS, duration / WEBCODECS_WORKERS);
}
