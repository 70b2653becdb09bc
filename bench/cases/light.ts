import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createLightEncoder } from "../../src/encoders/light/light.ts";
import { lightTools } from "../../src/encoders/light/light-estimate.ts";
import { readLightMessage } from "../../src/encoders/light/light-wire.ts";
import { readFrames } from "../../src/encoders/wire-frame.ts";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { ffprobeArgs, parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { outputFile } from "../../src/media/ffmpeg/output-files.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import { createPlan } from "../../src/media/index.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import { clip } from "../../test/fixtures/clips.ts";
import { WORKERS } from "../../worker/local/service.ts";
import { ROOT } from "../../worker/local/settings.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { startWorker } from "../host.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { makeScratch } from "../scratch.ts";

interface Job<K extends EncodeKind = EncodeKind> {
  description: string;
  clip(): Promise<string>;
  kind: K;
  options: OptionsOf<K>;
}

const JOBS: Readonly<Record<string, Job>> = {
  "light-still-vs-native": {
    description: "1920x1080 JPEG to 640 wide WebP",
    clip: () => clip("jpeg", { size: "1920x1080" }),
    kind: "image",
    options: { format: "webp", width: 640 },
  },
  "light-audio-vs-native": {
    description: "60 s of stereo FLAC to MP3",
    clip: () => clip("flac", { seconds: 60 }),
    kind: "audio",
    options: { format: "mp3" },
  },
  "light-clip-vs-native": {
    description: "5 s of 640x360 H.264 to 320 wide H.264",
    clip: () => clip("mp4", { size: "640x360", seconds: 5 }),
    kind: "video",
    options: { width: 320 },
  },
};

/** The light encoder in its Worker, called over HTTP, against native ffmpeg with the very same arguments. */
export const lightBenchmarks: readonly Benchmark[] = Object.entries(JOBS).map(([name, job]) => ({
  name,
  unit: "s",
  open: (ends) => openLight(job, ends),
}));

async function openLight(job: Job, ends: AsyncDisposableStack): Promise<Contest> {
  const path = await job.clip();
  const report: unknown = JSON.parse((await runCommand("ffprobe", ffprobeArgs(path))).stdout);
  const source = parseFfprobe(report, { url: path, filesize: (await stat(path)).size });
  const plan = createPlan(source, job.kind, job.options);
  const chunk = plan.chunks[0];
  if (!chunk || plan.chunks.length > 1) throw new Error("The work is meant to be one chunk.");

  const dir = await makeScratch(ends);
  const output = join(dir, outputFile(plan, chunk).name);
  const args = chunkArgs(plan, chunk, source, { input: path, output }, lightTools(plan, source));
  const config = join(ROOT, WORKERS["framewright-encoder"]);
  const url = await startWorker("framewright-encoder", config, dir, ends);
  const heaps: number[] = [];
  const light = createLightEncoder({
    async fetch(_, init) {
      const response = await fetch(url, init);
      const [passed, noted] = response.body?.tee() ?? [];
      if (noted) void noteHeap(noted, heaps);
      return new Response(passed ?? null, response);
    },
  });
  return {
    async peer() {
      const { seconds } = await runCommand("ffmpeg", ["-nostdin", "-y", "-loglevel", "error", ...args]);
      return { value: seconds, bytes: (await stat(output)).size };
    },
    async ours() {
      const started = performance.now();
      const input = bytesReader(await readFile(path));
      const { signal } = new AbortController();
      const files = await light.encode({ plan, chunk, source, input, signal });
      const seconds = (performance.now() - started) / 1000;
      return { value: seconds, bytes: files.reduce((sum, file) => sum + file.bytes.length, 0) };
    },
    notes(ours, peer) {
      const sizes = `${medianOf(ours, "bytes")} bytes against ${medianOf(peer, "bytes")}`;
      const heap = `peak heap ${short(Math.max(...heaps) / 1024 ** 2)} MiB`;
      return `${job.description}; ${heap}; ${sizes}; native may use every core, the light encoder one`;
    },
  };
}

async function noteHeap(body: ReadableStream<Uint8Array>, heaps: number[]): Promise<void> {
  const frames = readFrames(body);
  for (let message = await readLightMessage(frames); message; message = await readLightMessage(frames)) {
    if (message.state !== "done") continue;
    heaps.push(message.stats.heap);
    for (const { size } of message.files) await frames.bytes(size);
  }
}

function bytesReader(bytes: Uint8Array) {
  const read = async ({ start, end }: { start: number; end: number }) => bytes.subarray(start, end);
  return { size: bytes.length, read };
}
