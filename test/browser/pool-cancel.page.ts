import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { createPlan } from "../../src/media/index.ts";
import { openClip, openPool } from "./pool.page.ts";

declare global {
  /** Work in progress in the page. */
  var cancelling: { started: Promise<void>; stop(): void; ends: Promise<string[]> };
}

/** Starts all chunks of a clip on a pool of two workers, after it has probed the clip. */
export async function cancellable(url: string) {
  const pool = openPool({ workers: 2 });
  const input = await openClip(url);
  const report = await pool.probe(input, new AbortController().signal);
  const source = parseFfprobe(report, { url, filesize: input.size });
  const plan = createPlan(source, "video", { width: 480 }, { chunk_seconds: 10 });
  const controller = new AbortController();
  const reason = new Error("no longer needed");
  const started = Promise.withResolvers<void>();
  const jobs = plan.chunks.map((chunk) =>
    pool
      .encode({ plan, chunk, source, input, signal: controller.signal, onProgress: () => started.resolve() })
      .then(
        () => "done",
        (thrown) => (thrown === reason ? "cancelled" : (thrown.kind ?? String(thrown))),
      ),
  );
  globalThis.cancelling = {
    started: started.promise,
    stop: () => controller.abort(reason),
    ends: Promise.all(jobs),
  };
  return { pool };
}
