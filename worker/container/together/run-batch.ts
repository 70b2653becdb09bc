import { join } from "node:path";
import { togetherArgs } from "../../../src/media/ffmpeg/chunk-args.ts";
import { outputFile } from "../../../src/media/ffmpeg/output-files.ts";
import { checkRun, parseProgress } from "../../../src/media/ffmpeg/run-log.ts";
import type { Toolset } from "../../../src/media/ffmpeg/toolset.ts";
import { outputSeconds } from "../../../src/media/plan.ts";
import type { JobContext } from "../encode-job.ts";
import { runFfmpeg } from "../run-ffmpeg.ts";
import { type Watchdog, watch } from "../watchdog.ts";
import type { RunBatch } from "./batches.ts";

/** Creates the function that encodes a batch. Its jobs share tools and input, so those of the first are used. */
export function createRunBatch({ settings, installed, proxy }: JobContext, tools: Toolset): RunBatch {
  return async (members, home, signal) => {
    const [first] = members;
    if (!first) return;
    const failed = new AbortController();
    const input = proxy.serve(first.job.input, (error) => failed.abort(error));
    const outputs = members.map(({ job: { plan, chunk, source } }, at) => {
      const output = join(String(at), "out", outputFile(plan, chunk).name);
      return { plan, chunk, source, output, lists: `${at}/` };
    });
    const seconds = outputSeconds(first.job.plan, first.job.chunk);
    let speed: number | null = null;
    let done = 0;
    let watchdog: Watchdog | undefined;
    try {
      const end = await runFfmpeg({
        ...{ cwd: home, installed, limits: settings, args: togetherArgs(outputs, input.url, tools) },
        signal: AbortSignal.any([signal, failed.signal]),
        onProgress(line) {
          const [, name, value] = /^(speed|out_time_us)=\s*([\d.]+)/.exec(line) ?? [];
          if (name === "speed") speed = Number(value);
          else if (name) done = Math.max(done, Number(value));
          const reached = parseProgress(line, seconds);
          if (reached === null || !seconds) return;
          for (const member of members) member.onProgress(reached / seconds, speed);
        },
        onStart(ffmpeg) {
          watchdog = watch({
            ...{ ffmpeg, folder: home, stall_seconds: settings.stall_seconds },
            progress: () => done + input.sent(),
            isWaiting: () => input.isWaiting(),
            // A job that was ended holds no memory.
            fits: (bytes) =>
              members
                .filter((member) => !member.signal.aborted)
                .every(({ fits }, _, left) => fits(bytes / left.length)),
          });
        },
      });
      signal.throwIfAborted();
      failed.signal.throwIfAborted();
      const fault = watchdog?.fault();
      if (fault) throw fault;
      for (const { plan, chunk, source } of outputs) checkRun(end, plan, chunk, source);
    } finally {
      watchdog?.stop();
      input.close();
    }
  };
}
