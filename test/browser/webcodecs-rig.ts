import { readFileSync } from "node:fs";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Chunk, createPlan, type Plan } from "../../src/media/index.ts";
import type { VideoOptions } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import type { ByteReader } from "../../src/runs/ports.ts";
import { encodeChunk } from "../ffmpeg/native-encode.ts";
import { probe } from "../probe/probe-file.ts";
import { openLab } from "./lab.ts";
import type { WebCodecsAnswer, WebCodecsWish } from "./webcodecs.page.ts";

/** An encode in the browser and its files on disk. */
export interface WebCodecsResult extends Omit<WebCodecsAnswer, "files"> {
  plan: Plan;
  source: Source;
  /** One per video chunk, or one for the whole. */
  files: { chunk: Chunk; path: string }[];
}

export interface WebCodecsRun {
  chunk_seconds?: number;
  /** Runs without an encoder for the sound. */
  no_sound?: boolean;
  abort_at?: number;
  /** Changes the file after it is chosen. */
  changed?: boolean;
}

/** Opens a lab that encodes with WebCodecs in a dedicated worker; native ffmpeg encodes the sound beforehand. */
export async function openWebCodecs() {
  const folder = await mkdtemp(join(tmpdir(), "framewright-webcodecs-"));
  const lab = await openLab({ files: folder });
  let count = 0;

  const ask = async (wish: WebCodecsWish): Promise<WebCodecsAnswer> =>
    lab.page.evaluate((wish) => {
      const worker = new Worker("/bundled/test/browser/webcodecs.page.ts", { type: "module" });
      return new Promise<WebCodecsAnswer>((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(`the worker failed: ${message}`));
        worker.postMessage(wish);
      }).finally(() => worker.terminate());
    }, wish);

  return {
    lab,
    folder,
    async encode(
      path: string,
      options: VideoOptions,
      { chunk_seconds, no_sound, abort_at, changed = false }: WebCodecsRun = {},
    ): Promise<WebCodecsResult> {
      const name = `${count++}-${basename(path)}`;
      await copyFile(path, join(folder, name));
      const source = await probe(path);
      const plan = createPlan(source, "video", options, { chunk_seconds });
      const audio = plan.audio?.mode === "encode" && !no_sound;
      let sound: string | null = null;
      if (audio) {
        const chunk: Chunk = { index: 0, track: "audio", start: plan.start, end: plan.end };
        const output = await encodeChunk(path, source, plan, chunk);
        sound = `${name}.sound`;
        await copyFile(output.path, join(folder, sound));
      }
      const chunks = plan.chunks.filter(({ track }) => track !== "audio");
      const { files, ...answer } = await ask({
        ...{ plan, source, chunks, input: `/files/${name}`, sound: sound && `/files/${sound}` },
        changed,
        ...(abort_at !== undefined && { abort_at }),
      });
      const written = files.map(async (bytes, index) => {
        const chunk = chunks[index];
        if (!chunk) throw new Error("A file without a chunk came back.");
        const out = join(folder, `${name}.${index}.out.${plan.format}`);
        await writeFile(out, Buffer.from(bytes, "base64"));
        return { chunk, path: out };
      });
      return { ...answer, plan, source, files: await Promise.all(written) };
    },
    async close() {
      await lab.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Reads a file on disk as a `ByteReader`. */
export function readerOf(path: string): ByteReader {
  const bytes = new Uint8Array(readFileSync(path));
  return { size: bytes.length, read: async ({ start, end }) => bytes.slice(start, end) };
}
