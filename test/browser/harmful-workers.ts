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

// The worker as the package ships it: one file, which starts much sooner than its modules one by one.
const startWorker = () => new Worker("/workers/encoder-worker.js", { type: "module" });

/** Returns a function that starts encoder workers whose threads load one after the other, each for `ms` milliseconds. */
export function slowThreads(ms: number): () => Worker {
  return () =>
    changeCore(({ threads, ...core }) => ({
      ...core,
      ...(threads && { threads: new Blob([threads, late(ms)], { type: threads.type }) }),
    }));
}

function late(ms: number): string {
  const wait = `navigator.locks.request("slow", () => new Promise((done) => setTimeout(done, ${ms})))`;
  return `;self.onmessage = (event) => ${wait}.then(() => handleMessage(event));`;
}

function changeCore(change: (core: Scripts) => Scripts): Worker {
  const worker = startWorker();
  const send = worker.postMessage.bind(worker);
  worker.postMessage = (message: { core?: Scripts }) => {
    const { core } = message;
    send(core ? { ...message, core: change(core) } : message);
  };
  return worker;
}

interface Scripts {
  glue: Blob;
  threads?: Blob;
}

/** Returns a function that starts encoder workers, the first of them harmed. */
export function harmfulWorkers(harm: Harm = { how: "trap", workers: 0 }): () => Worker {
  let left = harm.workers;
  return () => {
    if (left-- <= 0) return startWorker();
    return changeCore((core) => ({ ...core, glue: harmed(core.glue, HARMS[harm.how]) }));
  };
}

function harmed(glue: Blob, harm: string): Blob {
  const create = `async (options) => { const core = await createFFmpegCore(options); ${harm} return core; }`;
  return new Blob([glue.slice(0, glue.size - END.length), `export default ${create};`], { type: glue.type });
}
