import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MediaError } from "../../src/core/errors.ts";
import type { NativeJob, NativeState } from "../../src/encoders/native/native-wire.ts";
import { createPeakMeter } from "../../src/encoders/waveform/peak-meter.ts";
import { chunkArgs } from "../../src/ffmpeg/chunk-args.ts";
import { listNames, readLists } from "../../src/ffmpeg/listing.ts";
import { findLevel } from "../../src/ffmpeg/loudness.ts";
import { outputFile } from "../../src/ffmpeg/output.ts";
import { parseProgress } from "../../src/ffmpeg/progress.ts";
import { checkRun, nothing, type RunEnd } from "../../src/ffmpeg/read-failure.ts";
import type { Tally } from "../../src/ffmpeg/tally.ts";
import { refuseTools } from "../../src/ffmpeg/toolset.ts";
import { furtherOf } from "../../src/plan/further/further.ts";
import { isInput } from "../../src/plan/further/further-file.ts";
import { outputSeconds } from "../../src/plan/plan.ts";
import { describeRefusals } from "../../src/words/refusal-words.ts";
import { checkSegments, isWhole, readSegments } from "./check-segments.ts";
import { decodeInput } from "./decode-input.ts";
import { readersOf } from "./demuxers.ts";
import type { InputProxy, ServedInput } from "./input-proxy.ts";
import type { Installed } from "./installed.ts";
import { inputArgs, jobTools } from "./job-tools.ts";
import { createPuts, listOutput, type OutputFile, type Puts, readPlaylists } from "./put-output.ts";
import { readInput } from "./read-input.ts";
import { PIPE, type RunningFfmpeg, runFfmpeg } from "./run-ffmpeg.ts";
import { removeFolder, type Scratch } from "./scratch.ts";
import type { Settings } from "./settings.ts";
import type { BatchPlace } from "./together/batches.ts";
import { createRunBatch } from "./together/run-batch.ts";
import { type Watchdog, watch } from "./watchdog.ts";

/** What jobs are run with. */
export interface Bench {
  scratch: Scratch;
  proxy: InputProxy;
  installed: Installed;
  settings: Pick<Settings, "threads" | "stall_seconds" | "max_file_bytes" | "max_memory_bytes">;
}

/** How one job is followed and ended. */
export interface JobHooks {
  /** Ends the job at once. */
  signal: AbortSignal;
  onProgress(share: number, speed: number | null): void;
  /** Returns whether the machine has so many bytes for this job, beside the others. */
  fits(bytes: number): boolean;
  /** Its place among the jobs that it may be encoded together with; null for none. */
  batch: BatchPlace | null;
}

/** What a job that went well gave. */
export type JobResult = Omit<Extract<NativeState, { state: "done" }>, "state">;

// The rest is for putting the output up.
const ENCODE_SHARE = 0.95;
// Of a job whose input is decoded first.
const DECODE_SHARE = 0.3;

/** Encodes a chunk in a folder of its own, puts its files up, and leaves nothing behind, whatever happens. Rejects with a {@link MediaError}, or as the signal says. */
export async function runJob(
  given: NativeJob,
  bench: Bench,
  { signal, onProgress, fits, batch }: JobHooks,
): Promise<JobResult> {
  const { installed, settings } = bench;
  // Keyframes are read faster on several, though each takes little.
  const threads = isShort(given) && !given.plan.image?.sheet ? 1 : settings.threads;
  const { burns } = installed;
  const givenTools = { ...jobTools(threads, readersOf(given.source.format)), burns };
  const refusal = refuseTools(given.plan, given.source, givenTools);
  if (refusal) {
    const refusals = [{ encoder: "native", ...refusal }];
    throw new MediaError("encoder_unavailable", describeRefusals(refusals), { refusals });
  }
  const home = await bench.scratch.create();
  // ffmpeg also makes folders beside the one it works in: `../360p`, of the name of a stream's first segment.
  const folder = join(home, "work");
  const puts = createPuts(given.folder, signal);
  try {
    const out = join(folder, "out");
    await mkdir(out, { recursive: true });
    const decoded = await decodeInput(given, {
      ...{ folder, installed, limits: settings, signal, fits },
      onProgress: (share) => onProgress(share * DECODE_SHARE, null),
    });
    const { job, path } = decoded ?? { job: given, path: null };
    const before = decoded ? DECODE_SHARE : 0;
    const onRest: typeof onProgress = (share, speed) => onProgress(before + share * (1 - before), speed);
    const { plan, chunk } = job;
    const tools = path === null ? givenTools : jobTools(threads, readersOf(job.source.format), "file");
    const alone = () => encode(job, bench, { folder, path, tools, puts, signal, onProgress: onRest, fits });
    const member = { job, folder, signal, onProgress: part(onRest), fits };
    if (batch && path === null) await batch.encode(member, createRunBatch(bench, tools), alone);
    else await alone();
    const tally = await readTally(job, folder);
    const single = job.name === null ? null : { name: job.name, mime: outputFile(plan, chunk).mime };
    const files = await listOutput(out, single);
    if (!files.some(({ size }) => size > 0)) throw nothing(plan);
    if (plan.kind === "adaptive_video") await checkSegments(files);
    const facts = new Map(single === null ? await readSegments(files) : []);
    const isPlaylist = ({ name }: { name: string }) => single === null && name.endsWith(".m3u8");
    const playlists = await readPlaylists(files.filter(isPlaylist));
    const rest = files.filter((file) => !isPlaylist(file));
    await puts.end(rest, (share) => onRest(ENCODE_SHARE + share * (1 - ENCODE_SHARE), null));
    const written = rest.map(({ name, mime, size }) => ({ name, mime, size, ...facts.get(name) }));
    return { written, playlists, tally };
  } finally {
    await puts.stop();
    await removeFolder(home);
  }
}

// Of a run without the putting up of what it wrote.
function part(onProgress: JobHooks["onProgress"]): JobHooks["onProgress"] {
  return (share, speed) => onProgress(share * ENCODE_SHARE, speed);
}

/** True for a job that takes little time and memory: an image, a storyboard of keyframes, or sound alone. */
export function isShort({ plan, chunk }: Pick<NativeJob, "plan" | "chunk">): boolean {
  const { video, image } = plan;
  if (chunk.track === "audio") return true;
  return video?.mode !== "encode" && !image?.motion && (!image?.sheet || chunk.keyframes_only === true);
}

interface Encode extends Omit<JobHooks, "batch"> {
  folder: string;
  /** The input where it is a file; null where it is read from its URL. */
  path: string | null;
  tools: ReturnType<typeof jobTools>;
  puts: Puts;
}

async function encode(
  job: NativeJob,
  bench: Bench,
  { folder, path, tools, puts, signal, onProgress, fits }: Encode,
): Promise<void> {
  const { plan, chunk, source } = job;
  const { settings, installed, proxy } = bench;
  const failed = new AbortController();
  const serve = (file: NativeJob["input"]) => proxy.serve(file, (error) => failed.abort(error));
  const roles = furtherOf(plan, chunk);
  const drawn = await saveDrawn(job, folder, signal);
  const input = onDisk(path) ?? serve(job.input);
  const further = (job.further ?? []).map((file, at) => onDisk(drawn.get(at)) ?? serve(file));
  const inputs = [input, ...further];
  const seconds = outputSeconds(plan, chunk);
  const moved = new Map<string, number>();
  let speed: number | null = null;
  let watchdog: Watchdog | undefined;
  const onStart = (ffmpeg: RunningFfmpeg) => {
    const progress = () =>
      [...moved.values()].reduce(
        (sum, value) => sum + value,
        inputs.reduce((given, each) => given + each.given(), 0),
      );
    const { stall_seconds } = settings;
    watchdog = watch({
      ...{ ffmpeg, progress, fits, stall_seconds },
      waits: () => inputs.some((each) => each.waits()),
      folder: join(folder, "out"),
    });
  };
  const check = (end: RunEnd) => {
    signal.throwIfAborted();
    failed.signal.throwIfAborted();
    puts.failed.throwIfAborted();
    const ended = watchdog?.fault();
    if (ended) throw ended;
    checkRun(end, plan, chunk, source);
  };
  try {
    const file = join("out", outputFile(plan, chunk).name);
    const meter = plan.waveform && createPeakMeter(plan.waveform);
    const output = meter ? PIPE : job.name === null ? "out" : file;
    const fonts = drawn.size > 0 ? join(folder, FONTS) : undefined;
    const run = { cwd: folder, installed, limits: settings, fonts };
    const stop = AbortSignal.any([signal, failed.signal, puts.failed]);
    const leveling = findLevel(plan, chunk, source, input.url, tools);
    let found = leveling.next();
    while (!found.done) {
      watchdog?.stop();
      const measured = await runFfmpeg({ ...run, args: found.value, signal: stop, onProgress() {}, onStart });
      check(measured);
      found = leveling.next(measured.log);
    }
    watchdog?.stop();
    const io = {
      ...{ input: input.url, output, lists: "", level: found.value },
      further: further.map(({ url }, at) => ({
        path: url,
        input: inputArgs(readersOf(roles[at]?.format ?? ""), bench.settings.threads),
      })),
    };
    const end = await runFfmpeg({
      ...run,
      args: chunkArgs(plan, chunk, source, io, tools),
      signal: stop,
      onProgress(line) {
        // ffmpeg's last line of each report.
        if (job.name === null && line === "progress=continue") void putEarly(folder, puts);
        const [, name = "", value = ""] =
          /^(frame|total_size|out_time_us|speed)=\s*([\d.]+)/.exec(line) ?? [];
        if (name === "speed") speed = Number(value);
        else if (name) moved.set(name, Math.max(moved.get(name) ?? 0, Number(value)));
        const reached = parseProgress(line, seconds);
        if (reached !== null && seconds) onProgress((reached / seconds) * ENCODE_SHARE, speed);
      },
      onStart,
      onBytes:
        meter &&
        ((bytes) => {
          try {
            meter.add(bytes);
          } catch (thrown) {
            failed.abort(thrown);
          }
        }),
    });
    check(end);
    const peaks = meter?.end();
    if (peaks) await writeFile(join(folder, file), peaks);
  } finally {
    watchdog?.stop();
    for (const each of inputs) each.close();
  }
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
    if (!file) throw new RangeError("A further file of the job is missing.");
    const path = join(`further-${at}`, "input");
    await mkdir(join(folder, dirname(path)));
    await writeFile(join(folder, path), await readInput(file, { start: 0, end: file.size }, signal));
    return [at, path] as const;
  });
  if (drawn.length > 0) await writeFile(join(folder, FONTS), NO_FONTS);
  return new Map(await Promise.all(paths));
}

const FONTS = "fonts.conf";

// ffmpeg wrote its lists beside the output.
async function readTally({ plan, chunk, source }: NativeJob, folder: string): Promise<Tally> {
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

const SEGMENT = /^(.+\/seg_)(\d+)\.m4s$/;

/**
 * Lists the segments that a running ffmpeg has finished: those whose successor exists and that are whole, which they are not after the
 * disk was full. Other files and the last segments are whole only after it has ended.
 */
async function wholeSegments(folder: string, isKnown: (name: string) => boolean): Promise<OutputFile[]> {
  const files = await listOutput(folder, null);
  const names = new Set(files.map(({ name }) => name));
  const done: OutputFile[] = [];
  for (const file of files) {
    const [, stem, number] = SEGMENT.exec(file.name) ?? [];
    if (number === undefined || isKnown(file.name)) continue;
    const next = `${stem}${String(Number(number) + 1).padStart(number.length, "0")}.m4s`;
    if (names.has(next) && (await isWhole(file))) done.push(file);
  }
  return done;
}
