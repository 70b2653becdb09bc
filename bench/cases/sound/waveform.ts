import { readFile, stat, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createPeakMeter, joinPeaks, writeWaveform } from "../../../src/encoders/waveform.ts";
import { chunkArgs } from "../../../src/media/ffmpeg/chunk-args.ts";
import { parseFfprobe } from "../../../src/media/ffmpeg/ffprobe.ts";
import { NATIVE_TOOLS } from "../../../src/media/ffmpeg/toolset.ts";
import { createPlan } from "../../../src/media/index.ts";
import { makeClip, runFfprobe } from "../../../test/fixtures/make-clip.ts";
import { type Segment, segmentsOf } from "../../../worker/container/batches.ts";
import { PIPE, runFfmpeg } from "../../../worker/container/ffmpeg-process.ts";
import { findInstalled } from "../../../worker/container/installed.ts";
import type { Benchmark, Contest } from "../../benchmark.ts";
import { runCommand } from "../../run-command.ts";
import { makeScratch } from "../../scratch.ts";

const SECONDS = 3600;
const LIMITS = { max_file_bytes: 2 ** 34, max_memory_bytes: 2 ** 32 };

/** Peaks of an hour of speech, as a native encoder takes them, against decoding it. */
export const waveformBenchmarks: readonly Benchmark[] = [
  { name: "waveform-vs-decode", unit: "s", open: openWaveform },
];

async function openWaveform(ends: AsyncDisposableStack): Promise<Contest> {
  const path = await makeSpeech();
  const folder = await makeScratch(ends);
  const { size: filesize } = await stat(path);
  const source = parseFfprobe(await runFfprobe(path), { url: path, filesize });
  const plan = createPlan(source, "waveform", { format: "json" });
  const [chunk] = plan.chunks;
  const { waveform } = plan;
  if (!chunk || !waveform) throw new Error("The plan is empty.");
  const installed = await findInstalled(LIMITS);
  const output = join(folder, "waveform.json");
  const segments = segmentsOf(plan, chunk, source, availableParallelism());
  const measure = async (at: number, { chunk, points_before }: Segment) => {
    const meter = createPeakMeter(waveform, points_before);
    const args = chunkArgs(plan, chunk, source, { input: path, output: PIPE, lists: `${at}-` }, NATIVE_TOOLS);
    const end = await runFfmpeg({
      args,
      cwd: folder,
      installed,
      limits: LIMITS,
      signal: AbortSignal.timeout(600_000),
      onProgress() {},
      onStart() {},
      onBytes: meter.add,
    });
    const peaks = meter.end();
    if (end.code !== 0 || !peaks) throw new Error(`ffmpeg failed: ${end.log.at(-1)}`);
    return peaks;
  };
  let points = 0;
  return {
    async peer() {
      const { seconds } = await runCommand("ffmpeg", [
        "-nostdin",
        "-loglevel",
        "error",
        "-i",
        path,
        "-f",
        "null",
        "-",
      ]);
      return { value: seconds };
    },
    async ours() {
      const started = performance.now();
      const peaks = joinPeaks(await Promise.all(segments.map((segment, at) => measure(at, segment))));
      const json = writeWaveform("json", waveform);
      await writeFile(output, new Blob([peaks]).stream().pipeThrough(json.stream));
      const seconds = (performance.now() - started) / 1000;
      points = JSON.parse(await readFile(output, "utf8")).length;
      if (points < (SECONDS * 44_100) / 256) throw new Error(`There are only ${points} points.`);
      return { value: seconds };
    },
    notes: () =>
      `an hour of MP3, mono, 64 kbit/s, in ${segments.length} segments; ours has ${points} points as JSON on disk, and lists every packet as each encode does`,
  };
}

// Noise in the band and with the rhythm of a voice: there is no speech on this machine.
function makeSpeech(): Promise<string> {
  const voice = "anoisesrc=d=60:c=pink:r=44100:a=0.6:seed=5,highpass=f=120,lowpass=f=3500";
  const rhythm = "volume='max(0.01,sin(25*t)*sin(1.3*t))':eval=frame";
  const codec = ["-ac", "1", "-c:a", "libmp3lame", "-b:a", "64k"];
  const minute = ["-f", "lavfi", "-i", `${voice},${rhythm}`, "-c:a", "pcm_s16le", "-f", "wav"];
  const hour = [
    "-stream_loop",
    "59",
    "-f",
    "wav",
    "-i",
    "{in}",
    "-t",
    String(SECONDS),
    ...codec,
    "-f",
    "mp3",
  ];
  return makeClip("mp3", minute, hour);
}
