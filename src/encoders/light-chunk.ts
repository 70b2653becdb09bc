import { MediaError } from "../core/errors.ts";
import type { Source } from "../core/source.ts";
import { chunkArgs } from "../ffmpeg/chunk-args.ts";
import { adaptiveMime, MASTER, outputFile } from "../ffmpeg/output.ts";
import { parseProgress } from "../ffmpeg/progress.ts";
import type { Chunk, Plan } from "../plan/plan.ts";
import type { EncodedFile } from "./encoder.ts";
import { lightTools } from "./light-tools.ts";
import type { RunResult, WasmCore } from "./wasm-core.ts";

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

// What the readers of files say when the end comes too early, though ffmpeg goes on with what there is.
const CUT_OFF = /partial file|unexpected end|Premature end/;
// Of a still there is no rest to go on with; in a film or a recording, a cover or one frame may be like that.
// A small JPEG may lack its end marker by ffmpeg's word alone; that it reads beyond the end, it says of cut ones only.
const CUT_STILL = /overread \d|[Tt]runcat|Packet corrupt/;
const UNREADABLE =
  /moov atom not found|Invalid data found|could not find codec|Decoder .*not found|unknown codec/i;
const STATUS = /^(frame|size)=/;
const EMPTY = /^frame=\s*0 |^size=.*time=(-|N|00:00:00\.00)|nothing was encoded/;

function checkRun({ code, log }: RunResult, plan: Plan, chunk: Chunk, source: Source): void {
  const said = log.join("\n");
  const fault = (kind: "input_unsupported" | "out_of_memory", message: string) =>
    new MediaError(kind, message, { cause: said });
  if (CUT_OFF.test(said) || (plan.still && CUT_STILL.test(said)))
    throw fault("input_unsupported", "The input is damaged or cut off.");
  if (code !== 0) {
    if (/matches no streams/.test(said)) {
      throw fault("input_unsupported", "The input lacks a stream that it was said to have.");
    }
    if (UNREADABLE.test(said))
      throw fault("input_unsupported", "The input cannot be read: it is damaged or no media.");
    if (/Cannot allocate memory/.test(said)) {
      throw fault("out_of_memory", "The work needs more memory than this encoder has.");
    }
    const last = log.findLast((line) => !STATUS.test(line));
    if (last && EMPTY.test(last)) throw nothing(plan);
    throw new MediaError("encode_failed", last ? `ffmpeg failed: ${last}` : "ffmpeg failed without a word.");
  }
  // A chunk may be empty where the sound is longer than the pictures; a whole output may not.
  if (chunk.track !== "all") return;
  const status = log.findLast((line) => STATUS.test(line)) ?? "";
  if (EMPTY.test(status)) throw nothing(plan);
  if (endsEarly(status, plan, source))
    throw fault("input_unsupported", "The input ends before its time: it is cut off.");
}

// These say exactly how long they are; others are estimated, and pictures alone may stand still for long at the end.
const EXACT: ReadonlySet<string> = new Set(["mp4", "mov", "matroska", "webm", "flac", "wav"]);

function endsEarly(status: string, plan: Plan, source: Source): boolean {
  // A file is as long as its longest stream, which may be one of text.
  const plain = source.streams?.every(({ kind }) => kind === "video" || kind === "audio") ?? true;
  if (!plan.audio || !plan.duration || !plain || !EXACT.has(source.format)) return false;
  const reached = parseProgress(status);
  return reached !== null && reached < plan.duration * 0.8 - 0.1;
}

function nothing(plan: Plan): MediaError {
  return plan.still
    ? new MediaError("input_unsupported", "The input is damaged or cut off.")
    : new MediaError("encode_failed", "The input has nothing in the time that is wanted.");
}
