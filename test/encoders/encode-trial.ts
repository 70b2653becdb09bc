import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChunkJob, EncodedFile, Encoder } from "../../src/encoders/encoder.ts";
import type { EncodeRun } from "../../src/encoders/run/encoding.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { ChunkHints } from "../../src/media/index.ts";
import type { Storage } from "../../src/runs/ports.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { readAll } from "../../src/storage/storage.ts";
import { makeFolder } from "../fixtures/end-of-file.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probe } from "../probe/probe-file.ts";
import { createDurably, createNativeEncoder, openFile } from "./native-encoder.ts";

/** A run with its progress reports and the keys it wrote. */
export interface Trial extends EncodeRun {
  reports: (number | null)[];
  storage: Storage & { keys: string[] };
}

/** Returns memory storage that records keys in the order of writes. */
function createStorage(): Trial["storage"] {
  const storage = createMemoryStorage();
  const keys: string[] = [];
  return {
    ...storage,
    keys,
    write(key, body, mime) {
      keys.push(key);
      return storage.write(key, body, mime);
    },
  };
}

/** Prepares a run on a local file with memory storage and native ffmpeg. */
export async function trial(
  path: string,
  kind: EncodeKind,
  options: object,
  changes: Partial<EncodeRun> & { hints?: ChunkHints } = {},
): Promise<Trial> {
  const source = await probe(path);
  const reports: (number | null)[] = [];
  return {
    plan: createPlan(source, kind, options, changes.hints),
    source,
    input: () => openFile(path),
    id: "run",
    encoder: createNativeEncoder(),
    max_in_flight: 2,
    work: "work/run/chunks/",
    out: "out/run/",
    name: "clip",
    durably: createDurably().durably,
    progress: async (percent) => {
      reports.push(percent);
    },
    ...changes,
    reports,
    storage: createStorage(),
  };
}

/** Writes a stored object to a file and returns the path. */
export async function fetchStored(storage: Storage, key: string): Promise<string> {
  const stored = await storage.read(key);
  if (!stored) throw new Error(`Nothing is stored as ${key}.`);
  const path = join(await makeFolder("run"), key.replaceAll("/", "-"));
  await writeFile(path, await readAll(stored.body));
  return path;
}

/** Returns an encoder that refuses nothing and encodes with the given function. */
export const encoderOf = (encode: Encoder["encode"]): Encoder => ({
  name: "failing",
  refuse: () => null,
  encode,
});

/** Returns an encoder whose jobs run until the test ends, fails or aborts them. */
export function createHolding() {
  const jobs: {
    chunk: number;
    job: ChunkJob;
    end(files: EncodedFile[]): void;
    fail(thrown: unknown): void;
  }[] = [];
  const encoder = encoderOf((job) => {
    const { promise, resolve, reject } = Promise.withResolvers<EncodedFile[]>();
    job.signal.addEventListener("abort", () => reject(job.signal.reason));
    jobs.push({ chunk: job.chunk.index, job, end: resolve, fail: reject });
    return promise;
  });
  return { encoder, jobs };
}
