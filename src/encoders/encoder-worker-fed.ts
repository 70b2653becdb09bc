import { MediaError } from "../core/errors.ts";
import { parseProgress } from "../ffmpeg/progress.ts";
import type { WorkHost } from "./encoder-worker-job.ts";
import type { EncoderWork, WorkDone } from "./encoder-worker-wire.ts";
import { runFedChunk } from "./light-chunk.ts";
import { feedable, startPictureFeed } from "./picture-feed.ts";

/**
 * Encodes a chunk whose pictures the browser decodes, several times as quickly as the core would. Null where that is not to be had, or went
 * wrong: then ffmpeg is to look at the source itself, and its words are those that count.
 */
export async function encodeFed(
  work: Extract<EncoderWork, { kind: "encode" }>,
  file: Blob,
  host: WorkHost,
  status_seconds: number,
): Promise<WorkDone | null> {
  const { plan, chunk, source, memory } = work;
  const video = feedable(plan, chunk, source);
  if (!video || !host.createWaitingCore) return null;
  const feed = startPictureFeed(file, video, chunk, source);
  try {
    const core = await host.createWaitingCore(memory, (line) => host.alive(parseProgress(line)));
    core.connect("/in/input", feed);
    const files = await runFedChunk(core, { ...work, status_seconds });
    return (await feed.whole) ? { report: null, files, heap: core.heap } : null;
  } catch (thrown) {
    // To decode in the core takes more of it.
    if (thrown instanceof MediaError && thrown.kind === "out_of_memory") throw thrown;
    return null;
  } finally {
    feed.close();
  }
}
