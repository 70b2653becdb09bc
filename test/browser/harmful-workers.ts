import { startEncoderWorker } from "../../src/encoders/pool/wasm-pool-run.ts";

/** How the cores of the first `workers` workers fail during an encode. */
export interface Harm {
  how: keyof typeof HARMS;
  workers: number;
}

// The real core gets arguments beyond its memory, or never returns; the last is what a browser throws when it is out of memory.
const HARMS = {
  trap: "const run = core._ffmpeg; core._ffmpeg = () => run(2, 0x7ffffff0);",
  hang: "core._ffmpeg = () => { for (;;); };",
  deadlock: "core._ffmpeg = () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); };",
  "no memory":
    'if (!options.ENVIRONMENT_IS_PTHREAD) throw new RangeError("WebAssembly.instantiate(): Out of memory");',
} as const;
const END = "export default createFFmpegCore;";

/** Returns a function that starts encoder workers, the first of them harmed. */
export function harmfulWorkers(harm: Harm = { how: "trap", workers: 0 }): () => Worker {
  let left = harm.workers;
  return () => {
    const worker = startEncoderWorker();
    if (left-- <= 0) return worker;
    const send = worker.postMessage.bind(worker);
    worker.postMessage = (message: { core?: { glue: Blob } }) => {
      const { core } = message;
      send(core ? { ...message, core: { ...core, glue: harmed(core.glue, HARMS[harm.how]) } } : message);
    };
    return worker;
  };
}

function harmed(glue: Blob, harm: string): Blob {
  const create = `async (options) => { const core = await createFFmpegCore(options); ${harm} return core; }`;
  return new Blob([glue.slice(0, glue.size - END.length), `export default ${create};`], { type: glue.type });
}
