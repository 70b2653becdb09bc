import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NATIVE_TOOLS, type Toolset } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeRequest } from "../../src/media/options.ts";
import { nativeOffer } from "../../src/media/route.ts";
import { openSample } from "../../src/runs/steps/sample.ts";
import type { StepTools } from "../../src/runs/steps/step-tools.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { diskReader, probe } from "../probe/probe-file.ts";
import { createNativeEncoder } from "./native-encoder.ts";

const HOST = { refusal: null, instances: 1, cores: 2, max_in_flight: 8 } as const;

/** Options of {@link openNativeSample}. */
interface NativeSampleOptions {
  /** A folder for copies of encoded files. */
  folder: string;
  /** Seconds per chunk; null keeps a video whole. Default: what one container with two processors chooses. */
  chunk_seconds?: number | null;
  /** The toolset of ffmpeg. Default: that of a container. */
  toolset?: Toolset;
  signal?: AbortSignal;
}

/** Opens a file on disk as a sample that native ffmpeg encodes here, as one container would; everything else is in memory. */
export async function openNativeSample(
  path: string,
  request: EncodeRequest,
  {
    folder,
    chunk_seconds,
    toolset = NATIVE_TOOLS,
    signal = new AbortController().signal,
  }: NativeSampleOptions,
) {
  const storage = createMemoryStorage();
  const reader = await diskReader(path);
  const encoder = createNativeEncoder("native", toolset);
  const tools: StepTools = {
    storage,
    stem: "output",
    max_seconds: 3600,
    encoders: [encoder],
    remote: null,
    inFlight: () => 1,
    offers: async (plan, source) => {
      const offer = nativeOffer(plan, source, HOST);
      return [chunk_seconds === undefined ? offer : { ...offer, chunk_seconds }];
    },
    open: (key) => storageReader(storage, key),
    async probe(file) {
      const copy = join(folder, `probe-${encoder.jobs.length}`);
      await writeFile(copy, await file.read({ start: 0, end: file.size }));
      return probe(copy);
    },
    inputs: {
      async open(url) {
        const file = { url, size: reader.size, etag: null, version: null, mime: null, ranges: true, reader };
        const stream = () => new ReadableStream<Uint8Array>();
        return { reader, mime: null, file: { ...file, stream, close: async () => {} } };
      },
    },
    url: async (key) => key,
    key: async () => null,
  };
  const sample = await openSample(tools, { url: "file:clip", request }, signal);
  return { sample, storage, encoder };
}
