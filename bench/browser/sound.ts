import { stat } from "node:fs/promises";
import { poolTools, WORKER_MEMORY } from "../../src/encoders/wasm/wasm-pool-cost.ts";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { ffprobeArgs, parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { createPlan } from "../../src/media/index.ts";
import { makeClip, runFfprobeWith } from "../../test/fixtures/make-clip.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { medianOf } from "../measure.ts";
import { openTabWith } from "./open-page.ts";

const OPTIONS = { format: "mp3" } as const;

export const soundBenchmarks: readonly Benchmark[] = [{ name: "browser-mp3-hour", unit: "s", open }];

async function open(ends: AsyncDisposableStack): Promise<Contest> {
  const path = await makeHour();
  const source = parseFfprobe(await runFfprobeWith(ffprobeArgs(path)), {
    url: "file:hour.m4a",
    filesize: (await stat(path)).size,
  });
  const plan = createPlan(source, "audio", OPTIONS);
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("The plan is empty.");
  const tools = poolTools(plan, source, WORKER_MEMORY);
  const args = chunkArgs(plan, chunk, source, { input: "input", output: "out.mp3" }, tools);
  const tab = await openTabWith(ends, path);
  return {
    async ours() {
      const { seconds, size } = await tab.page.evaluate(
        (options) => bench.ours.run({ kind: "audio", options }),
        OPTIONS,
      );
      return { value: seconds, size };
    },
    async peer() {
      const { seconds, size } = await tab.page.evaluate(
        (list) => bench.plain.run("core", list, "out.mp3"),
        args,
      );
      return { value: seconds, size };
    },
    notes: (ours, peer) =>
      `an hour of stereo AAC to MP3 of 128 kbit/s, cores loaded before; ${medianOf(ours, "size")} bytes against ${medianOf(peer, "size")} of plain @ffmpeg/ffmpeg with the same settings`,
  };
}

// A minute of changing tones over noise, repeated.
async function makeHour(): Promise<string> {
  const sound =
    "aevalsrc='0.3*sin(2*PI*(220+110*sin(t/3))*t)+0.05*random(0)|0.3*sin(2*PI*330*t)*abs(sin(t))+0.05*random(1)':s=48000:d=60";
  const minute = ["-f", "lavfi", "-i", sound, "-c:a", "aac", "-b:a", "128k"];
  return makeClip("m4a", minute, ["-stream_loop", "59", "-i", "{in}", "-c", "copy"]);
}
