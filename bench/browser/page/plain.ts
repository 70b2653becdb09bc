import { FFmpeg } from "@ffmpeg/ffmpeg";
import { fetchFile } from "@ffmpeg/util";
import { chosenFile, nextClick } from "./chosen.ts";

export type Core = "core" | "core-mt";

let last: Blob | null = null;

/** Plain ffmpeg.wasm, used as its documentation describes. */
export const plain = { run, firstProgress, save };

/**
 * Encodes the selected file, called `input` in the arguments; uses a core that is already loaded, and reads the file
 * completely.
 */
async function run(core: Core, args: string[], name: string): Promise<{ seconds: number; size: number }> {
  const ffmpeg = await load(core);
  try {
    const started = performance.now();
    await ffmpeg.writeFile("input", await fetchFile(chosenFile()));
    const code = await ffmpeg.exec(args);
    if (code !== 0) throw new Error(`ffmpeg.wasm ended with ${code}.`);
    const bytes = (await ffmpeg.readFile(name)) as Uint8Array<ArrayBuffer>;
    last = new Blob([bytes]);
    return { seconds: (performance.now() - started) / 1000, size: last.size };
  } finally {
    ffmpeg.terminate();
  }
}

/** Waits for a click and returns the milliseconds from there, including loading, to the first progress. */
async function firstProgress(core: Core, args: string[]): Promise<number> {
  const clicked = await nextClick();
  const ffmpeg = await load(core);
  const { promise, resolve } = Promise.withResolvers<number>();
  ffmpeg.on("progress", ({ time }) => time > 0 && resolve(performance.now() - clicked));
  await ffmpeg.writeFile("input", await fetchFile(chosenFile()));
  ffmpeg.exec(args).catch(() => {});
  return promise.finally(() => ffmpeg.terminate());
}

async function save(name: string): Promise<void> {
  if (last) await globalThis.bench.save(last, name);
}

async function load(core: Core): Promise<FFmpeg> {
  const ffmpeg = new FFmpeg();
  const base = new URL(`/plain/${core}/`, location.href);
  const url = (name: string) => new URL(name, base).href;
  await ffmpeg.load({
    coreURL: url("ffmpeg-core.js"),
    wasmURL: url("ffmpeg-core.wasm"),
    ...(core === "core-mt" && { workerURL: url("ffmpeg-core.worker.js") }),
  });
  return ffmpeg;
}
