import type { Source } from "../../core/source.ts";
import { createCopyEncoder } from "../../encoders/copy.ts";
import { createAvifEncoder } from "../../encoders/images/avif.ts";
import { createCanvasEncoder } from "../../encoders/images/canvas.ts";
import { loadCore, loadFastCore, loadVp9Core } from "../../encoders/wasm/load-core.ts";
import { createWasmMt } from "../../encoders/wasm/wasm-mt.ts";
import { createWasmPool, type WasmPool } from "../../encoders/wasm/wasm-pool.ts";
import type { SoundEncoder } from "../../encoders/webcodecs/sound.ts";
import { createWebCodecsEncoder } from "../../encoders/webcodecs/webcodecs.ts";
import { CHUNK_SECONDS } from "../../plan/chunks.ts";
import type { Plan } from "../../plan/index.ts";
import { sourceSeconds } from "../../plan/plan.ts";
import type { MediaSettings } from "../media-api.ts";
import type { PageAsks } from "../media-worker/page-asks.ts";
import { runIsolated } from "./isolated-encoder.ts";
import type { LocalEncoder } from "./local-offers.ts";
import { readDecoded } from "./read-decoded.ts";

export type EncoderSettings = Pick<
  MediaSettings,
  "prefer" | "encoderWorkers" | "core" | "threadedCore" | "avif"
>;

export interface LocalEncoders {
  /** In order of preference. */
  ordered: LocalEncoder[];
  /** The one that also probes files. */
  pool: WasmPool;
}

// The VP9 and AV1 encoders use all processors; the H.264 encoder leaves some idle unless two run in parallel.
const WEBCODECS_WORKERS = 2;
const WORTH_SECONDS = 8;

// Indexing a large WebM and encoding a large AVIF take minutes without reports.
const SILENCE_SECONDS = 300;

/** Creates the encoders of this machine in order of preference; copying always comes first. `draw` has the page draw an SVG. */
export function createLocalEncoders(settings: EncoderSettings, draw: PageAsks["draw"]): LocalEncoders {
  const { prefer, encoderWorkers, core, threadedCore, avif } = settings;
  const { fast: url, vp9, font: _, ...stock } = core ?? {};
  const pool = createWasmPool({
    load: () => loadCore(stock),
    loadFast: () => loadFastCore({ wasm: url ?? undefined, cache: stock.cache }),
    loadVp9: () => loadVp9Core({ wasm: vp9, cache: stock.cache }),
    ...(encoderWorkers !== null && { workers: encoderWorkers }),
  });
  const wasms = url === null ? [pool] : [pool.fast, pool];
  const limits = { workers: pool.workers, silenceSeconds: SILENCE_SECONDS };
  const copy = runIsolated(startCopy, limits)(createCopyEncoder());
  const wasm = new URL(avif ?? AVIF_WASM, location.href).href;
  const runImages = runIsolated((life) => startImage(`${wasm} ${life}`), limits);
  const images = [createAvifEncoder({ wasm }), createCanvasEncoder()].map(runImages);
  const decoder = runIsolated(startDecoder, limits)({ name: "picture", refuse: () => null, encode: none });
  const threaded = createWasmMt({ core: threadedCore });
  const webcodecs: LocalEncoder = {
    ...createWebCodecsEncoder({ sound: url === null ? pool : preferFast(pool) }),
    workers: WEBCODECS_WORKERS,
    chunkSeconds: webcodecsChunk,
  };
  const rest = prefer === "speed" ? [webcodecs, ...wasms, threaded] : [...wasms, threaded, webcodecs];
  return { ordered: [copy, ...[...images, ...rest].map(readDecoded(decoder, draw))], pool };
}

function none(): never {
  throw new RangeError("The work is done in a worker.");
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

// Spelled out so that bundlers find the file.
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

// Long encodes are always cut, so that a reload does not start them over.
function webcodecsChunk(plan: Plan): number {
  const { video } = plan;
  const duration = sourceSeconds(plan);
  const h264 = video?.mode === "encode" && video.codec === "h264";
  if (!h264 || duration === null || duration < WORTH_SECONDS) return CHUNK_SECONDS;
  return Math.min(CHUNK_SECONDS, duration / WEBCODECS_WORKERS);
}
