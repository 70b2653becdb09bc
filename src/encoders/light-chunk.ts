import type { Source } from "../core/source.ts";
import { chunkArgs } from "../ffmpeg/chunk-args.ts";
import { adaptiveMime, MASTER, outputFile } from "../ffmpeg/output.ts";
import { checkRun, nothing } from "../ffmpeg/read-failure.ts";
import type { Chunk, Plan } from "../plan/plan.ts";
import type { EncodedFile } from "./encoder.ts";
import { lightTools } from "./light-tools.ts";
import type { WasmCore } from "./wasm-core.ts";

/** A chunk of a plan, and the room for it. */
export interface ChunkOfPlan {
  plan: Plan;
  chunk: Chunk;
  source: Source;
  /** Bytes that the heap, the input and the output may take together. */
  memory: number;
}

const FOLDER = "/out";
// No progress in between: nobody can read it while the core runs.
const QUIET = ["-loglevel", "warning", "-stats", "-stats_period", "100000"];

/** Encodes a chunk from `/in/input`; throws a {@link MediaError} when ffmpeg fails, finds the input cut off, or writes nothing. */
export function runChunk(core: WasmCore, { plan, chunk, source, memory }: ChunkOfPlan): EncodedFile[] {
  const adaptive = plan.kind === "adaptive_video";
  const { name, mime } = outputFile(plan, chunk);
  const output = adaptive ? FOLDER : `${FOLDER}/${name}`;
  core.makeFolder(FOLDER);
  const tools = lightTools(plan, source, memory);
  const run = core.exec([...QUIET, ...chunkArgs(plan, chunk, source, { input: "/in/input", output }, tools)]);
  checkRun(run, plan, chunk, source);
  const files = core.take(FOLDER).filter(({ bytes }) => bytes.length > 0);
  if (files.length === 0) throw nothing(plan);
  const encoded = files.map((file) => ({ ...file, mime: adaptive ? adaptiveMime(file.name) : mime }));
  // The master playlist names all others, so it comes last.
  return encoded.sort((a, b) => Number(a.name === MASTER) - Number(b.name === MASTER));
}
