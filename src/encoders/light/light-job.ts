import { MediaError } from "../../media/errors.ts";
import { type ExtraFile, extraFilesOf, nameForFfmpeg } from "../../media/extra-files.ts";
import { findGain } from "../../media/features/audio-filters-graph.ts";
import { type ChunkFiles, chunkArgs } from "../../media/ffmpeg/chunk-args.ts";
import { adaptiveMime, MASTER, outputFile } from "../../media/ffmpeg/output-files.ts";
import { type PacketCounts, readLists } from "../../media/ffmpeg/packet-count.ts";
import { checkRun, emptyOutput } from "../../media/ffmpeg/run-log.ts";
import { FAST_TOOLS, type Toolset, WASM_TOOLS } from "../../media/ffmpeg/toolset.ts";
import { type Chunk, hasManyFiles, type Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { type HeaderFacts, readHeaderFacts } from "../../probe/picture-header.ts";
import type { ByteRange } from "../../runs/ports.ts";
import { KIB, MIB } from "../../util/bytes.ts";
import type { EncodedFile } from "../encoder.ts";
import * as errors from "../errors.ts";
import { repairableOf, repairFile } from "../file-repair.ts";
import {
  createPagedFile,
  type Page,
  PageMiss,
  type ReadAhead,
  rangeAfterMiss,
  type SyncFile,
} from "../wasm/core-files.ts";
import type { WasmCore } from "../wasm/stock-core.ts";
import { createPeakMeter } from "../waveform.ts";
import { coreOf, inputBytes, LIGHT_INPUT, lightTools, rangeBytes } from "./light-estimate.ts";
import { type FfprobeReport, reportOf, runProbe } from "./light-probe.ts";

/** A job for the light encoder on a file of `size` bytes; the ranges of its extra files continue from the end of the file. */
export type LightJob =
  | { kind: "probe"; size: number }
  | {
      kind: "encode";
      size: number;
      plan: Plan;
      chunk: Chunk;
      source: Source;
      /** Bytes of each extra file; absent where there are none. */
      further?: number[];
    };

/** Returns the bytes of a job's files together. */
export function wholeSize(job: LightJob): number {
  return extraSizes(job).reduce((sum, size) => sum + size, job.size);
}

function extraSizes(job: LightJob): readonly number[] {
  return (job.kind === "encode" && job.further) || [];
}

/** The outcome of a job: a range to load before it can continue, or its result. */
export type LightAnswer =
  | { need: ByteRange }
  | {
      report: FfprobeReport | null;
      files: EncodedFile[];
      tally: PacketCounts;
      heap: number;
      seconds: number;
    };

/** A core of the host; its heap survives between jobs. */
export interface LightCore {
  create(memory: number): WasmCore | Promise<WasmCore>;
  /** Bytes of the heap between jobs. */
  readonly heap: number;
  /** Discards the heap, which never shrinks. */
  drop(): void;
}

/** The host of jobs, which run one at a time. */
export interface LightHost {
  stock: LightCore;
  /** The fast core; null in a build without it. */
  fast: LightCore | null;
  /** Limit in bytes on heap, input and output of a job together. */
  memory: number;
  /** Milliseconds on a clock with any origin. */
  now(): number;
}

const INITIAL_HEAP = 32 * MIB;
const PROBE_FIRST = 128 * KIB;
const LONG_SECONDS = 1500;
// ffmpeg rejects pictures with more pixels (av_image_check_size).
const MAX_PIXELS = 2 ** 28;

/** Returns the range that a job needs in any case, so that the first request can include it. */
export function firstRange(job: LightJob): ByteRange {
  const whole = job.kind === "encode" && inputBytes(job.size, job.plan, job.source, job.chunk) === job.size;
  const end = whole && job.size <= LIGHT_INPUT.max ? job.size : readAhead(job, 0).first;
  return { start: 0, end: Math.min(job.size, end) };
}

function readAhead(job: LightJob, offset: number): ReadAhead {
  if (job.kind === "probe") {
    return { first: PROBE_FIRST, growth: 4, min: PROBE_FIRST, max: 4 * MIB, total: LIGHT_INPUT.image };
  }
  const range = Math.max(MIB, rangeBytes(job.size, job.plan, job.source, job.chunk, "typical"));
  // The tables of a long film exceed the first request and are often at the end of the file.
  const head = (job.source.duration ?? 0) > LONG_SECONDS ? MIB / 4 : MIB;
  const first = offset === 0 && job.chunk.start > 0 ? head : Math.min(LIGHT_INPUT.max, range);
  return { first, growth: 0.5, min: range / 2, max: range, total: LIGHT_INPUT.max };
}

/** Runs a job on the loaded ranges of its input; rejects with a {@link MediaError}. */
export async function runLightJob(
  job: LightJob,
  pages: readonly Page[],
  host: LightHost,
): Promise<LightAnswer> {
  const [file, ...extra] = splitFile(createPagedFile(wholeSize(job), pages), [job.size, ...extraSizes(job)]);
  const facts = job.kind === "probe" ? headerOf(file) : null;
  const large = facts && (job.size > LIGHT_INPUT.image || facts.width * facts.height >= MAX_PIXELS);
  if (facts && large) return fromFacts(facts, job);
  const core = chooseCore(job, host);
  const run = async (depth: "frame" | "header"): Promise<LightAnswer> => {
    try {
      return await attempt((core) => work(core, depth), core, host);
    } catch (thrown) {
      if (thrown instanceof PageMiss) return afterMiss(job, thrown.offset, pages, facts);
      throw thrown;
    }
  };
  const work = (instance: WasmCore, depth: "frame" | "header") => {
    if (job.kind === "probe") return { report: runProbe(instance, file, facts, depth), files: [], tally: {} };
    mountInputs(instance, job, file, extra);
    const tools = lightTools(job.plan, job.source, host.memory, core === host.fast ? FAST_TOOLS : WASM_TOOLS);
    return { report: null, ...runChunk(instance, { ...job, tools }) };
  };
  try {
    return await run("frame");
  } catch (thrown) {
    if (job.kind === "encode" || !isOutOfMemory(thrown)) throw thrown;
  }
  return facts ? fromFacts(facts, job) : run("header");
}

// Only the first part counts loaded bytes, because its count covers the whole file.
function splitFile(whole: SyncFile, [size, ...sizes]: [number, ...number[]]): [SyncFile, ...SyncFile[]] {
  let from = size;
  const rest = sizes.map((length) => {
    const at = from;
    from += length;
    return {
      size: length,
      loadedBytes: 0,
      read: (start: number, end: number) => whole.read(at + start, at + end),
    };
  });
  return [{ size, loadedBytes: whole.loadedBytes, read: (start, end) => whole.read(start, end) }, ...rest];
}

type Work = (core: WasmCore) => { report: FfprobeReport | null; files: EncodedFile[]; tally: PacketCounts };

function chooseCore(job: LightJob, { stock, fast }: LightHost): LightCore {
  if (!fast || job.kind === "probe") return stock;
  return coreOf(job.plan, job.source, true) === "fast" ? fast : stock;
}

async function attempt(work: Work, core: LightCore, host: LightHost): Promise<LightAnswer> {
  // Two heaps would not fit.
  if (core !== host.stock) host.stock.drop();
  else host.fast?.drop();
  const run = async (): Promise<LightAnswer> => {
    const started = host.now();
    const instance = await core.create(host.memory);
    const done = work(instance);
    return { ...done, heap: instance.heap, seconds: (host.now() - started) / 1000 };
  };
  const hasGrown = core.heap > INITIAL_HEAP;
  try {
    return await run();
  } catch (thrown) {
    if (!isOutOfMemory(thrown)) throw thrown;
    core.drop();
    if (hasGrown) return await run();
    throw thrown;
  }
}

function isOutOfMemory(thrown: unknown): boolean {
  return thrown instanceof MediaError && thrown.kind === "out_of_memory";
}

function afterMiss(
  job: LightJob,
  offset: number,
  pages: readonly Page[],
  facts: HeaderFacts | null,
): LightAnswer {
  const loaded = pages.map(({ start, bytes }) => ({ start, end: start + bytes.length }));
  const need = rangeAfterMiss(offset, job.size, loaded, readAhead(job, offset));
  if (need) return { need };
  if (facts) return fromFacts(facts, job);
  throw errors.largeInput({ job: job.kind, maxBytes: readAhead(job, offset).total });
}

function headerOf(file: SyncFile): HeaderFacts | null {
  try {
    return readHeaderFacts(file.read(0, Math.min(file.size, PROBE_FIRST)));
  } catch (thrown) {
    if (thrown instanceof PageMiss) return null;
    throw thrown;
  }
}

function fromFacts(facts: HeaderFacts, job: LightJob): LightAnswer {
  return { report: reportOf(facts, job.size), files: [], tally: {}, heap: 0, seconds: 0 };
}

/** A chunk of a plan, and the tools that encode it. */
export interface ChunkOfPlan {
  plan: Plan;
  chunk: Chunk;
  source: Source;
  tools: Toolset;
  /** Seconds between ffmpeg's progress lines; absent where nothing can read them while the core runs. */
  status_seconds?: number;
}

export interface EncodedChunk {
  /** `front` precedes a file's bytes if the core moved it out of memory. */
  files: (EncodedFile & { front?: Blob })[];
  tally: PacketCounts;
}

const INPUT = "/in/input";
const extraPath = (at: number, file: ExtraFile) => `/further-${at}/${nameForFfmpeg(file)}`;
const FOLDER = "/out";
const LISTING = "/lists";
const NEVER = 100_000;
const QUIET = ["-loglevel", "warning", "-stats", "-stats_period"];

/** Mounts the files that {@link runChunk} reads. */
export function mountInputs(
  core: Pick<WasmCore, "mount">,
  work: Pick<ChunkOfPlan, "plan" | "source">,
  file: SyncFile,
  extra: readonly SyncFile[],
): void {
  const { plan, source } = work;
  core.mount(INPUT, repairFile(file, repairableOf(source, plan)));
  for (const [at, each] of extra.entries()) {
    const file = plan.further?.[at];
    if (file)
      core.mount(extraPath(at, file), repairFile(each, { format: file.format, passesProfile: false }));
  }
}

/**
 * Encodes a chunk from the mounted files. Throws a {@link MediaError} when ffmpeg fails, finds the input truncated, or writes nothing.
 */
export function runChunk(
  core: Pick<WasmCore, "exec" | "makeFolder" | "pour" | "take">,
  { plan, chunk, source, tools, status_seconds = NEVER }: ChunkOfPlan,
): EncodedChunk {
  const adaptive = hasManyFiles(plan);
  const { name, mime } = outputFile(plan, chunk);
  const output = adaptive ? FOLDER : `${FOLDER}/${name}`;
  core.makeFolder(FOLDER);
  core.makeFolder(LISTING);
  const status = [...QUIET, String(status_seconds)];
  const run = (args: readonly string[]): readonly string[] => {
    const result = core.exec(args);
    checkRun(result, plan, chunk, source);
    return result.log;
  };
  const search = findGain(plan, chunk, source, INPUT, tools);
  let step = search.next();
  while (!step.done) step = search.next(run(step.value));
  const io: ChunkFiles = {
    input: INPUT,
    output,
    lists: `${LISTING}/`,
    gain: step.value,
    extra: extraFilesOf(plan, chunk).map((file, at) => ({ path: extraPath(at, file), input: tools.input })),
  };
  const meter = plan.waveform && createPeakMeter(plan.waveform);
  if (meter) core.pour?.(output, meter.add);
  run([...status, ...chunkArgs(plan, chunk, source, io, tools)]);
  const outputs = core.take(FOLDER).filter(({ bytes }) => bytes.length > 0);
  if (meter) for (const { bytes } of outputs) meter.add(bytes);
  const peaks = meter?.end();
  const files = meter ? (peaks ? [{ name, bytes: peaks }] : []) : outputs;
  if (files.length === 0) throw emptyOutput(plan);
  const encoded = files.map((file) => ({ ...file, mime: adaptive ? adaptiveMime(file.name) : mime }));
  const lists = new Map(core.take(LISTING).map((list) => [list.name, new TextDecoder().decode(list.bytes)]));
  return {
    files: encoded.sort((a, b) => Number(a.name === MASTER) - Number(b.name === MASTER)),
    tally: readLists(plan, chunk, source, (name) => lists.get(name) ?? null),
  };
}
