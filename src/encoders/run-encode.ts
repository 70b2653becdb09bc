import { MediaError } from "../core/errors.ts";
import { RunOver } from "../core/pipeline.ts";
import type { ByteReader, Durably, Storage } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import type { Chunk, Plan } from "../plan/plan.ts";
import type { Encoding } from "./encode-chunk.ts";
import { encodePart, stitchParts } from "./encode-parts.ts";
import { createEncodeProgress } from "./encode-progress.ts";
import { encodeStream, encodeStreamPart, finishParts } from "./encode-stream.ts";
import { encodeWhole } from "./encode-whole.ts";
import type { Encoder, RemoteFiles } from "./encoder.ts";
import { sideBySide } from "./side-by-side.ts";

/** What an encode is run with. */
export interface EncodeRun {
  /** Start of the names of its jobs: a job's id is this, `-` and the index of its chunk, so that the same work is found after a restart. */
  id: string;
  plan: Plan;
  source: Source;
  /** Opens the source for random access; called once for each chunk. */
  input(): Promise<ByteReader>;
  encoder: Encoder;
  /** Chunks that are encoded at once, at most. */
  max_in_flight: number;
  /** What encoders on other machines read, and where they write below a start of keys; absent where there are none. */
  remote?: {
    input(): Promise<RemoteFiles["input"]>;
    folder(key_prefix: string): Promise<string>;
  };
  storage: Storage;
  /** Start of the keys of encoded chunks, until they are stitched; with a slash at its end. */
  work: string;
  /** Start of the keys of the output, with a slash at its end. */
  out: string;
  /** Name of the output without its extension; adaptive video keeps its own names. */
  name: string;
  durably: Durably;
  /** Is told percent done, or null now and then while the work waits for a free encoder. */
  progress(percent: number | null): Promise<void>;
  signal?: AbortSignal | undefined;
}

/** What an encode gave. */
export interface EncodeResult {
  /** The file to open: the only one, or the master playlist. */
  key: string;
  /** Files in all. */
  files: number;
  /** Bytes of all files. */
  size: number;
}

/**
 * Carries a plan out on an encoder: encodes its chunks side by side, stitches them where there are several, and stores the output.
 * Every piece runs durably and writes the same keys again when repeated. Rejects as the encoder does; a chunk that fails stops the
 * others, and nothing of the output is left behind by a failure.
 */
export async function runEncode(run: EncodeRun): Promise<EncodeResult> {
  await run.progress(0);
  try {
    const result = await encodeAll(run);
    await run.progress(100);
    return result;
  } catch (thrown) {
    // A failure of the media is final. Any other may be the host's own end, after which the run goes on with what there is.
    if (thrown instanceof MediaError) {
      await Promise.allSettled([run.out, run.work].map((prefix) => run.storage.clear(prefix)));
    }
    throw thrown;
  }
}

async function encodeAll(run: EncodeRun): Promise<EncodeResult> {
  const { plan, durably, storage } = run;
  const stop = new AbortController();
  const encoding: Encoding = {
    ...run,
    told: createEncodeProgress(plan, run.progress),
    stopped: run.signal ? AbortSignal.any([run.signal, stop.signal]) : stop.signal,
  };
  const adaptive = plan.kind === "adaptive_video";
  const [only, ...more] = plan.chunks;
  if (!only) throw new MediaError("internal_error", "The plan has nothing to encode.");
  if (more.length === 0)
    return adaptive ? encodeStream(encoding, only) : one(await encodeWhole(encoding, only));
  const encodeOne = adaptive ? encodeStreamPart : encodePart;
  const parts = await sideBySide(
    soundFirst(plan.chunks),
    run.max_in_flight,
    async (chunk) => {
      const key = await durably(`encode chunk ${chunk.index}`, (signal) =>
        encodeOne(encoding, chunk, signal),
      );
      encoding.told.share(chunk, 1);
      return { chunk, key };
    },
    () => stop.abort(new RunOver()),
  );
  parts.sort((a, b) => a.chunk.index - b.chunk.index);
  await encoding.told.finish();
  const result = await durably("stitch", async (signal): Promise<EncodeResult> => {
    return adaptive ? finishParts(encoding, parts) : one(await stitchParts(encoding, parts, signal));
  });
  await durably("tidy", async () => {
    await storage.clear(run.work);
    return null;
  });
  return result;
}

// The sound is one long piece, which would keep everything waiting if it came last.
function soundFirst(chunks: readonly Chunk[]): Chunk[] {
  return chunks.toSorted((a, b) => Number(b.track === "audio") - Number(a.track === "audio"));
}

function one({ key, size }: { key: string; size: number }): EncodeResult {
  return { key, size, files: 1 };
}
