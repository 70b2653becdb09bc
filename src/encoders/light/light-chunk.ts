import type { Source } from "../../core/source.ts";
import { chunkArgs } from "../../ffmpeg/chunk-args.ts";
import { readLists } from "../../ffmpeg/listing.ts";
import { adaptiveMime, MASTER, outputFile } from "../../ffmpeg/output.ts";
import { checkRun, nothing } from "../../ffmpeg/read-failure.ts";
import type { Tally } from "../../ffmpeg/tally.ts";
import type { Toolset } from "../../ffmpeg/toolset.ts";
import { extraFilesOf } from "../../media/extra-inputs.ts";
import { findGain } from "../../media/features/audio-filters-graph.ts";
import { type Chunk, hasManyFiles, type Plan } from "../../plan/plan.ts";
import type { SyncFile } from "../core/paged-file.ts";
import type { WasmCore } from "../core/wasm-core.ts";
import type { EncodedFile } from "../encoder.ts";
import { createPeakMeter } from "../waveform/peak-meter.ts";

/** A chunk of a plan, and the tools that encode it. */
export interface ChunkOfPlan {
  plan: Plan;
  chunk: Chunk;
  source: Source;
  tools: Toolset;
  /** Seconds between ffmpeg's progress lines; absent for none, as nothing can read them while the core runs. */
  status_seconds?: number;
}

export interface EncodedChunk {
  /** `front` comes before a file's bytes, where the core moved it out of memory. */
  files: (EncodedFile & { front?: Blob })[];
  tally: Tally;
}

const INPUT = "/in/input";
// Each file is mounted in a folder of its own.
const furtherPath = (at: number) => `/further-${at}/input`;
const FOLDER = "/out";
const LISTING = "/lists";
const NEVER = 100_000;
const QUIET = ["-loglevel", "warning", "-stats", "-stats_period"];

/** Mounts the files that {@link runChunk} reads. */
export function mountInputs(
  core: Pick<WasmCore, "mount">,
  file: SyncFile,
  further: readonly SyncFile[],
): void {
  core.mount(INPUT, file);
  for (const [at, each] of further.entries()) core.mount(furtherPath(at), each);
}

/**
 * Encodes a chunk from the mounted files. Throws a {@link MediaError} when ffmpeg fails, finds the input truncated, or writes
 * nothing.
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
    const ended = core.exec(args);
    checkRun(ended, plan, chunk, source);
    return ended.log;
  };
  const search = findGain(plan, chunk, source, INPUT, tools);
  let step = search.next();
  while (!step.done) step = search.next(run(step.value));
  const io = {
    input: INPUT,
    output,
    lists: `${LISTING}/`,
    gain: step.value,
    further: extraFilesOf(plan, chunk).map((_, at) => ({ path: furtherPath(at), input: tools.input })),
  };
  const meter = plan.waveform && createPeakMeter(plan.waveform);
  if (meter) core.pour?.(output, meter.add);
  run([...status, ...chunkArgs(plan, chunk, source, io, tools)]);
  const taken = core.take(FOLDER).filter(({ bytes }) => bytes.length > 0);
  // A core that does not pass its output on has kept it.
  if (meter) for (const { bytes } of taken) meter.add(bytes);
  const peaks = meter?.end();
  const files = meter ? (peaks ? [{ name, bytes: peaks }] : []) : taken;
  if (files.length === 0) throw nothing(plan);
  const encoded = files.map((file) => ({ ...file, mime: adaptive ? adaptiveMime(file.name) : mime }));
  const lists = new Map(core.take(LISTING).map((list) => [list.name, new TextDecoder().decode(list.bytes)]));
  return {
    // The master playlist refers to all others, so it comes last.
    files: encoded.sort((a, b) => Number(a.name === MASTER) - Number(b.name === MASTER)),
    tally: readLists(plan, chunk, source, (name) => lists.get(name) ?? null),
  };
}
