import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { repairableOf } from "../../src/encoders/file-repair.ts";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { createPeakMeter } from "../../src/encoders/waveform.ts";
import { extraFilesOf, isFfmpegInput, nameForFfmpeg } from "../../src/media/extra-files.ts";
import { findGain } from "../../src/media/features/audio-filters-graph.ts";
import { type ChunkFiles, chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { outputFile } from "../../src/media/ffmpeg/output-files.ts";
import { listNames, type PacketCounts, readLists } from "../../src/media/ffmpeg/packet-count.ts";
import { checkRun, parseProgress, type RunEnd } from "../../src/media/ffmpeg/run-log.ts";
import { outputSeconds } from "../../src/media/plan.ts";
import * as errors from "./errors.ts";
import { demuxersFor, inputArgs, type jobTools } from "./ffmpeg-args.ts";
import { PIPE, type ProgramRun, runFfmpeg, type Watchdog, watch } from "./ffmpeg-process.ts";
import { finishedSegments, type Scratch, type Uploads } from "./files.ts";
import { type InputProxy, readInput, type ServedInput } from "./input.ts";
import type { Installed } from "./installed.ts";
import type { Settings } from "./settings.ts";

/** The machine that jobs run on. */
export interface JobContext {
  scratch: Scratch;
  proxy: InputProxy;
  installed: Installed;
  settings: Pick<Settings, "threads" | "stall_seconds" | "max_file_bytes" | "max_memory_bytes">;
}

/** The callbacks of a run, and the signal that kills it. */
export interface RunHooks {
  signal: AbortSignal;
  /** Receives the finished share, 0 to 1, and the seconds of output per second, null until known. */
  onProgress(share: number, speed: number | null): void;
  /** Returns whether this many bytes fit into the machine's memory beside the other jobs. */
  fits(bytes: number): boolean;
}

/** Options of {@link encode}. */
export interface EncodeOptions extends RunHooks {
  /** The job's folder: `out` receives the output, the folder itself the lists of pictures and packets. */
  folder: string;
  /** Points of a waveform before the chunk. */
  points_before?: number | undefined;
  /** Path of the input; null when it is read from its URL. */
  path: string | null;
  tools: ReturnType<typeof jobTools>;
  uploads: Uploads;
}

/** Runs ffmpeg for a job's chunk. Rejects with a {@link MediaError}, or with the signal's reason. */
export async function encode(job: NativeJob, context: JobContext, options: EncodeOptions): Promise<void> {
  const { plan, chunk, source } = job;
  const { folder, path, tools, uploads, signal, onProgress, fits, points_before } = options;
  const { settings, installed, proxy } = context;
  const failed = new AbortController();
  const fail = (error: unknown) => failed.abort(error);
  const filterFiles = await saveFilterFiles(job, folder, signal);
  const fonts = filterFiles.size > 0 ? join(folder, FONTS) : undefined;
  const input = localFile(path) ?? proxy.serve(job.input, fail, repairableOf(source, plan));
  const extraInputs = (job.further ?? []).map((file, at) => {
    const { format = "" } = plan.further?.[at] ?? {};
    return localFile(filterFiles.get(at)) ?? proxy.serve(file, fail, { format, passesProfile: false });
  });
  const inputs = [input, ...extraInputs];
  const report = createReport(outputSeconds(plan, chunk), onProgress);
  const watched = {
    fits,
    stall_seconds: settings.stall_seconds,
    folder: join(folder, "out"),
    progress: () => inputs.reduce((sum, each) => sum + each.sentBytes(), report.total()),
    isWaiting: () => inputs.some((each) => each.isWaiting()),
  };
  const stop = AbortSignal.any([signal, failed.signal, uploads.failed]);
  const run = async (args: string[], more: Partial<ProgramRun> = {}): Promise<RunEnd> => {
    let watchdog: Watchdog | undefined;
    try {
      const end = await runFfmpeg({
        args,
        cwd: folder,
        installed,
        limits: settings,
        fonts,
        signal: stop,
        onProgress() {},
        onStart(ffmpeg) {
          watchdog = watch({ ffmpeg, ...watched });
        },
        ...more,
      });
      for (const each of [signal, failed.signal, uploads.failed]) each.throwIfAborted();
      const fault = watchdog?.fault();
      if (fault) throw fault;
      checkRun(end, plan, chunk, source);
      return end;
    } finally {
      watchdog?.stop();
    }
  };
  try {
    const search = findGain(plan, chunk, source, input.url, tools);
    let step = search.next();
    while (!step.done) step = search.next((await run(step.value)).log);
    const file = join("out", outputFile(plan, chunk).name);
    const meter = plan.waveform && createPeakMeter(plan.waveform, points_before);
    const output = meter ? PIPE : job.name === null ? "out" : file;
    const roles = extraFilesOf(plan, chunk);
    const io: ChunkFiles = {
      input: input.url,
      output,
      lists: "",
      gain: step.value,
      extra: extraInputs.map(({ url }, at) => ({
        path: url,
        input: inputArgs(demuxersFor(roles[at]?.format ?? ""), settings.threads),
      })),
    };
    await run(chunkArgs(plan, chunk, source, io, tools), {
      onProgress(line) {
        if (job.name === null && line === "progress=continue") void uploadSegments(folder, uploads);
        report.read(line);
      },
      onBytes: meter && ((bytes) => abortOnError(() => meter.add(bytes), failed)),
    });
    const peaks = meter?.end();
    if (peaks) await writeFile(join(folder, file), peaks);
  } finally {
    for (const each of inputs) each.close();
  }
}

function abortOnError(act: () => void, failed: AbortController): void {
  try {
    act();
  } catch (thrown) {
    failed.abort(thrown);
  }
}

function createReport(seconds: number | null, onProgress: RunHooks["onProgress"]) {
  const largest = new Map<string, number>();
  let speed: number | null = null;
  return {
    /** The sum of all figures, which grows while any of them does. */
    total: () => largest.values().reduce((sum, value) => sum + value, 0),
    read(line: string): void {
      const [, name = "", value = ""] = /^(frame|total_size|out_time_us|speed)=\s*([\d.]+)/.exec(line) ?? [];
      if (name === "speed") speed = Number(value);
      else if (name) largest.set(name, Math.max(largest.get(name) ?? 0, Number(value)));
      const reached = parseProgress(line, seconds);
      if (reached !== null && seconds) onProgress(reached / seconds, speed);
    },
  };
}

function localFile(url: string | null | undefined): ServedInput | null {
  return url ? { url, sentBytes: () => 0, isWaiting: () => false, close() {} } : null;
}

// Other machines may lack the fonts of this one.
const NO_FONTS = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig/>`;

/** Saves the files that filters read (subtitles and their font), each in its own folder; returns their paths by index. */
async function saveFilterFiles(
  { plan, chunk, further: extraInputs = [] }: NativeJob,
  folder: string,
  signal: AbortSignal,
): Promise<Map<number, string>> {
  const filterFiles = [...extraFilesOf(plan, chunk).entries()].filter(([, file]) => !isFfmpegInput(file));
  const paths = filterFiles.map(async ([at, planned]) => {
    const file = extraInputs[at];
    if (!file) throw errors.extraInputMissing();
    const path = join(`further-${at}`, nameForFfmpeg(planned));
    await mkdir(join(folder, dirname(path)));
    await writeFile(join(folder, path), await readInput(file, { start: 0, end: file.size }, signal));
    return [at, path] as const;
  });
  if (filterFiles.length > 0) await writeFile(join(folder, FONTS), NO_FONTS);
  return new Map(await Promise.all(paths));
}

const FONTS = "fonts.conf";

/** Counts the pictures and packets of a run from the lists in its folder. */
export async function readPacketCounts(
  { plan, chunk, source }: NativeJob,
  folder: string,
): Promise<PacketCounts> {
  const texts = listNames(plan).map(
    async (name) => [name, await readFile(join(folder, name), "utf8").catch(() => null)] as const,
  );
  const lists = new Map<string, string | null>(await Promise.all(texts));
  return readLists(plan, chunk, source, (name) => lists.get(name) ?? null);
}

async function uploadSegments(folder: string, uploads: Uploads): Promise<void> {
  const segments = await finishedSegments(join(folder, "out"), uploads.has).catch(() => []);
  for (const segment of segments) uploads.add(segment);
}
