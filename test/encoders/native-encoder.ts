import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import type { ChunkJob, EncodedFile, Encoder, WrittenFile } from "../../src/encoders/encoder.ts";
import type { EncodeRun } from "../../src/encoders/run/encoding.ts";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { outputFile } from "../../src/media/ffmpeg/output-files.ts";
import { listNames, readLists } from "../../src/media/ffmpeg/packet-count.ts";
import { refuseTools, type Toolset, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { readSegment } from "../../src/mux/contents.ts";
import type { ByteReader, Durably, Storage } from "../../src/runs/ports.ts";

const run = promisify(execFile);

/** Creates an encoder that runs local native ffmpeg, by default with the wasm core's toolset, and records its jobs. */
export function createNativeEncoder(
  name = "native",
  toolset: Toolset = WASM_TOOLS,
): Encoder & { jobs: ChunkJob[] } {
  const jobs: ChunkJob[] = [];
  return {
    name,
    jobs,
    refuse: (plan, source) => refuseTools(plan, source, toolset),
    async encode(job) {
      jobs.push(job);
      const { plan, chunk, source, input, signal, onCounts } = job;
      const folder = await mkdtemp(join(tmpdir(), "framewright-native-"));
      try {
        const path = join(folder, "input");
        await writeFile(path, await input.read({ start: 0, end: input.size }));
        const out = await mkdtemp(join(folder, "out-"));
        const output = plan.kind === "adaptive_video" ? out : join(out, outputFile(plan, chunk).name);
        const args = chunkArgs(plan, chunk, source, { input: path, output, lists: `${folder}/` }, toolset);
        await run("ffmpeg", ["-v", "error", "-nostdin", "-y", ...args], { signal, timeout: 60_000 });
        const lists = new Map<string, string>();
        for (const name of listNames(plan)) {
          const path = join(folder, name);
          if (existsSync(path)) lists.set(name, await readFile(path, "utf8"));
        }
        onCounts?.(readLists(plan, chunk, source, (name) => lists.get(name) ?? null));
        return await readFolder(out);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  };
}

/** Creates the same encoder as a remote one, which stores its files in the job's folder, a key prefix ({@link remoteTo}). */
export function createRemoteEncoder(storage: Storage): Encoder & { jobs: ChunkJob[] } {
  const native = createNativeEncoder("remote");
  return {
    ...native,
    async encode(job) {
      const files = (await native.encode(job)) as EncodedFile[];
      const remote = await job.remote?.();
      if (!remote) throw new Error("the job has no remote folder");
      const written: WrittenFile[] = [];
      const playlists = files.filter((file) => file.name.endsWith(".m3u8"));
      for (const file of files.filter((each) => !playlists.includes(each))) {
        const name = remote.name ?? file.name;
        const { size } = await storage.write(remote.folder + name, file.bytes, file.mime);
        written.push({ name, mime: file.mime, size, ...(name.endsWith(".m4s") && readSegment(file.bytes)) });
      }
      return { written, playlists };
    },
  };
}

/** The input and output of a {@link createRemoteEncoder}. */
export const remoteTo: NonNullable<EncodeRun["remote"]> = {
  input: async () => ({ url: "https://example.com/source", size: 1, etag: "e" }),
  folder: async (prefix) => prefix,
};

async function readFolder(folder: string): Promise<EncodedFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path) => ({
      ...{ name: relative(folder, path), mime: "application/octet-stream" },
      bytes: new Uint8Array(await readFile(path)),
    })),
  );
}

/** Opens a local file. */
export async function openFile(path: string): Promise<ByteReader> {
  const bytes = new Uint8Array(await readFile(path));
  return { size: bytes.length, read: async ({ start, end }) => bytes.slice(start, end) };
}

/** Returns a `durably` that keeps successful results by name, as JSON, across simulated crashes. */
export function createDurably(results: Map<string, string> = new Map()): {
  durably: Durably;
  results: Map<string, string>;
} {
  const durably: Durably = async (name, work) => {
    const cached = results.get(name);
    if (cached !== undefined) return JSON.parse(cached);
    const result = await work(new AbortController().signal);
    results.set(name, JSON.stringify(result));
    return result;
  };
  return { durably, results };
}
