import { createWasmMt, type WasmMt } from "../../src/encoders/wasm/wasm-mt.ts";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { createPlan, type Plan } from "../../src/media/index.ts";
import { type Harm, harmfulWorkers, slowThreads } from "./harmful-workers.ts";
import { openClip, openPool } from "./pool.page.ts";

/** Where the lab serves the threaded core. */
export const MT_CORE = {
  wasm: "/files/mt/ffmpeg-core.wasm",
  glue: "/files/mt/ffmpeg-core.js",
  threads: "/files/mt/ffmpeg-core.worker.js",
  cache: null,
} as const;

/** Probes a clip and plans its encode to a codec. */
export async function planClip(clip: string, codec: "h264" | "h265", options: object = {}) {
  const input = await openClip(clip);
  const report = await openPool().probe(input, new AbortController().signal);
  const source = parseFfprobe(report, { url: clip, filesize: input.size });
  return { input, source, plan: createPlan(source, "video", { codec, ...options }) };
}

/** Returns the threaded encoder's refusals: without a core, for H.264, for H.265, and for a huge H.265 video. */
export async function askMt(clip: string) {
  const { source, plan } = await planClip(clip, "h265", { width: 160 });
  const h264 = (await planClip(clip, "h264", { width: 160 })).plan;
  const huge: Plan = structuredClone(plan);
  if (huge.video?.mode === "encode") Object.assign(huge.video.geometry, { width: 7680, height: 4320 });
  const [none, there] = [createWasmMt({ core: null }), createWasmMt({ core: MT_CORE })];
  return [
    none.refuse(plan, source),
    there.refuse(h264, source),
    there.refuse(plan, source),
    there.refuse(huge, source),
  ];
}

/** Encodes a clip to H.265 while the cores of the first workers fail; returns the outcome and the number of workers started. */
export async function harmMt(clip: string, harm: Harm) {
  const { input, source, plan } = await planClip(clip, "h265", { width: 160, end: 0.5 });
  const start = harmfulWorkers(harm);
  let workers = 0;
  const createWorker = () => {
    workers++;
    return start();
  };
  const encoder = createWasmMt({ core: MT_CORE, silenceSeconds: 15, createWorker });
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("There is nothing to encode.");
  const end = await encoder.encode({ plan, chunk, source, input, signal: new AbortController().signal }).then(
    ([file]) => (file?.bytes.length ? "done" : "nothing"),
    ({ kind, message }) => [kind, message],
  );
  encoder.close();
  return { end, workers };
}

/**
 * Encodes a clip to H.265 where each of its threads takes `ms` milliseconds to load, with a limit of `silenceSeconds`; cancels after
 * `cancelMs` unless null. Returns the outcome, and the reported progress.
 */
export async function startSlowly(
  clip: string,
  { ms, silenceSeconds, cancelMs }: { ms: number; silenceSeconds: number; cancelMs: number | null },
) {
  const { input, source, plan } = await planClip(clip, "h265", { width: 160, end: 0.5 });
  const encoder = createWasmMt({ core: MT_CORE, silenceSeconds, createWorker: slowThreads(ms) });
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("There is nothing to encode.");
  const stop = new AbortController();
  if (cancelMs !== null) setTimeout(() => stop.abort(new Error("enough")), cancelMs);
  const shares: number[] = [];
  const onProgress = (share: number) => void shares.push(share);
  const end = await encoder.encode({ plan, chunk, source, input, signal: stop.signal, onProgress }).then(
    ([file]) => (file?.bytes.length ? "done" : "nothing"),
    ({ message }) => message,
  );
  encoder.close();
  return { end, shares };
}

/** Encodes a clip to H.265, or cancels once it has encoded a part; returns the file and the reported progress. */
export async function encodeMt(clip: string, cancel: boolean) {
  const { input, source, plan } = await planClip(clip, "h265", { width: 160 });
  const encoder: WasmMt = createWasmMt({ core: MT_CORE });
  const stop = new AbortController();
  const shares: number[] = [];
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("There is nothing to encode.");
  let at = 0;
  const files = await encoder
    .encode({
      ...{ plan, chunk, source, input, signal: stop.signal },
      onProgress(share) {
        shares.push(share);
        if (!cancel || share === 0) return;
        at ||= performance.now();
        stop.abort(new Error("enough"));
      },
    })
    .catch((thrown: Error) => thrown.message);
  const took = performance.now() - at;
  encoder.close();
  if (typeof files === "string") return { error: files, took, shares, bytes: [] };
  return { error: null, took, shares, bytes: [...(files[0]?.bytes ?? [])] };
}
