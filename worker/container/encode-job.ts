import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { createPeakMeter } from "../../src/encoders/waveform/peak-meter.ts";
import { chunkArgs } from "../../src/ffmpeg/chunk-args.ts";
import { listNames, readLists } from "../../src/ffmpeg/listing.ts";
import { outputFile } from "../../src/ffmpeg/output.ts";
import { parseProgress } from "../../src/ffmpeg/progress.ts";
import { checkRun, type RunEnd } from "../../src/ffmpeg/read-failure.ts";
import type { Tally } from "../../src/ffmpeg/tally.ts";
import { findGain } from "../../src/media/features/audio-filters-graph.ts";
import { furtherOf } from "../../src/plan/further/further.ts";
import { isInput } from "../../src/plan/further/further-file.ts";
import { outputSeconds } from "../../src/plan/plan.ts";
import { wholeSegments } from "./check-segments.ts";
import { readersOf } from "./demuxers.ts";
import { errors } from "./errors.ts";
import type { InputProxy, ServedInput } from "./input-proxy.ts";
import type { Installed } from "./installed.ts";
import { inputArgs, type jobTools } from "./job-tools.ts";
import type { Puts } from "./put-output.ts";
import { readInput } from "./read-input.ts";
import { PIPE, type ProgramRun, runFfmpeg } from "./run-ffmpeg.ts";
import type { Scratch } from "./scratch.ts";
import type { Settings } from "./settings.ts";
import { type Watchdog, watch } from "./watchdog.ts";

/** What jobs are run with. */
export interface Bench {
  scratch: Scratch;
  proxy: InputProxy;
  installed: Installed;
  settings: Pick<Settings, "threads" | "stall_seconds" | "max_file_bytes" | "max_memory_bytes">;
}

/** How one run is followed and ended. */
export interface RunHooks {
  /** Ends it at once. */
  signal: AbortSignal;
  /** Called with the finished share, and the seconds of output produced per second, null until known. */
  onProgress(share: number, speed: number | null): void;
  /** Returns whether the machine has so many bytes for this job, beside the others. */
  fits(bytes: number): boolean;
}

/** What one run of a job is given. */
export interface Encode extends RunHooks {
  /** Its folder; the output goes below `out`, the lists beside it. */
  folder: string;
  /** Points of a waveform before the chunk. */
  points_before?: number | undefined;
  /** The input where it is a file; null where it is read from its URL. */
  path: string | null;
  tools: ReturnType<typeof jobTools>;
  puts: Puts;
}

/** Runs ffmpeg for a job's chunk. Rejects with a {@link MediaError}, or as the signal says. */
export async function encode(job: NativeJob, bench: Bench, given: Encode): Promise<void> {
  const { plan, chunk, source } = job;
  const { folder, path, tools, puts, signal, onProgress, fits, points_before } = given;
  const { settings, installed, proxy } = bench;
  const failed = new AbortController();
  const serve = (file: NativeJob["input"]) => proxy.serve(file, (error) => failed.abort(error));
  const drawn = await saveDrawn(job, folder, signal);
  const fonts = drawn.size > 0 ? join(folder, FONTS) : undefined;
  const input = onDisk(path) ?? serve(job.input);
  const further = (job.further ?? []).map((file, at) => onDisk(drawn.get(at)) ?? serve(file));
  const inputs = [input, ...further];
  const report = createReport(outputSeconds(plan, chunk), onProgress);
  const watched = {
    ...{ fits, stall_seconds: settings.stall_seconds, folder: join(folder, "out") },
    progress: () => inputs.reduce((sum, each) => sum + each.given(), report.moved()),
    waits: () => inputs.some((each) => each.waits()),
  };
  const stop = AbortSignal.any([signal, failed.signal, puts.failed]);
  const run = async (args: string[], more: Partial<ProgramRun> = {}): Promise<RunEnd> => {
    let watchdog: Watchdog | undefined;
    try {
      const end = await runFfmpeg({
        ...{ args, cwd: folder, installed, limits: settings, fonts, signal: stop, onProgress() {} },
        onStart(ffmpeg) {
          watchdog = watch({ ffmpeg, ...watched });
        },
        ...more,
      });
      for (const each of [signal, failed.signal, puts.failed]) each.throwIfAborted();
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
    const roles = furtherOf(plan, chunk);
    const io = {
      input: input.url,
      output,
      lists: "",
      gain: step.value,
      further: further.map(({ url }, at) => ({
        path: url,
        input: inputArgs(readersOf(roles[at]?.format ?? ""), settings.threads),
      })),
    };
    await run(chunkArgs(plan, chunk, source, io, tools), {
      onProgress(line) {
        // ffmpeg's last line of each report.
        if (job.name === null && line === "progress=continue") void putEarly(folder, puts);
        report.take(line);
      },
      onBytes: meter && ((bytes) => attempt(() => meter.add(bytes), failed)),
    });
    const peaks = meter?.end();
    if (peaks) await writeFile(join(folder, file), peaks);
  } finally {
    for (const each of inputs) each.close();
  }
}

function attempt(act: () => void, failed: AbortController): void {
  try {
    act();
  } catch (thrown) {
    failed.abort(thrown);
  }
}

// Parses ffmpeg's progress lines. `seconds` is the length of the output, null if unknown.
function createReport(seconds: number | null, onProgress: RunHooks["onProgress"]) {
  const most = new Map<string, number>();
  let speed: number | null = null;
  return {
    /** Grows as long as any figure does. */
    moved: () => most.values().reduce((sum, value) => sum + value, 0),
    take(line: string): void {
      const [, name = "", value = ""] = /^(frame|total_size|out_time_us|speed)=\s*([\d.]+)/.exec(line) ?? [];
      if (name === "speed") speed = Number(value);
      else if (name) most.set(name, Math.max(most.get(name) ?? 0, Number(value)));
      const reached = parseProgress(line, seconds);
      if (reached !== null && seconds) onProgress(reached / seconds, speed);
    },
  };
}

function onDisk(url: string | null | undefined): ServedInput | null {
  return url ? { url, given: () => 0, waits: () => false, close() {} } : null;
}

// Without the fonts of this machine, which others do not have.
const NO_FONTS = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig/>`;

/** Saves what a filter reads, subtitles and their font, each in a folder of its own; returns the paths by their numbers. */
async function saveDrawn(
  { plan, chunk, further = [] }: NativeJob,
  folder: string,
  signal: AbortSignal,
): Promise<Map<number, string>> {
  const drawn = furtherOf(plan, chunk).flatMap((file, at) => (isInput(file) ? [] : [at]));
  const paths = drawn.map(async (at) => {
    const file = further[at];
    if (!file) throw errors.extraInputMissing();
    const path = join(`further-${at}`, "input");
    await mkdir(join(folder, dirname(path)));
    await writeFile(join(folder, path), await readInput(file, { start: 0, end: file.size }, signal));
    return [at, path] as const;
  });
  if (drawn.length > 0) await writeFile(join(folder, FONTS), NO_FONTS);
  return new Map(await Promise.all(paths));
}

const FONTS = "fonts.conf";

/** Returns what a run found in the source, by the lists in its folder. */
export async function readTally({ plan, chunk, source }: NativeJob, folder: string): Promise<Tally> {
  const texts = listNames(plan).map(
    async (name) => [name, await readFile(join(folder, name), "utf8").catch(() => null)] as const,
  );
  const lists = new Map<string, string | null>(await Promise.all(texts));
  return readLists(plan, chunk, source, (name) => lists.get(name) ?? null);
}

// What cannot be listed now is put at the end, or fails then.
async function putEarly(folder: string, puts: Puts): Promise<void> {
  const segments = await wholeSegments(join(folder, "out"), puts.has).catch(() => []);
  for (const segment of segments) puts.add(segment);
}
