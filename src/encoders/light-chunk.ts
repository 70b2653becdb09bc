import { MediaError } from "../core/errors.ts";
import type { Source } from "../core/source.ts";
import { chunkArgs } from "../ffmpeg/chunk-args.ts";
import { adaptiveMime, MASTER, outputFile } from "../ffmpeg/output.ts";
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

/** Encodes a chunk from `/in/input`; throws a {@link MediaError} when ffmpeg fails or writes nothing. */
export function runChunk(core: WasmCore, { plan, chunk, source, memory }: ChunkOfPlan): EncodedFile[] {
  const adaptive = plan.kind === "adaptive_video";
  const { name, mime } = outputFile(plan, chunk);
  const output = adaptive ? FOLDER : `${FOLDER}/${name}`;
  core.makeFolder(FOLDER);
  const args = chunkArgs(
    plan,
    chunk,
    source,
    { input: "/in/input", output },
    lightTools(plan, source, memory),
  );
  const { code, log } = core.exec(["-loglevel", "error", ...args]);
  if (code !== 0) throw failure(log);
  const damage = log.find((line) => DAMAGE.test(line));
  if (damage)
    throw new MediaError("input_unsupported", "The input is damaged or cut off.", { cause: damage });
  const files = core.take(FOLDER).filter(({ bytes }) => bytes.length > 0);
  if (files.length === 0) throw failure(log);
  const encoded = files.map((file) => ({ ...file, mime: adaptive ? adaptiveMime(file.name) : mime }));
  // The master playlist names all others, so it comes last.
  return encoded.sort((a, b) => Number(a.name === MASTER) - Number(b.name === MASTER));
}

// What the readers of files say when the end comes too early, though ffmpeg goes on with what there is.
const DAMAGE = /partial file|EOI missing|[Tt]runcat|Packet corrupt|unexpected end|Premature end/;

const CAUSES = [
  [/matches no streams/, "input_unsupported", "The input lacks the stream that is wanted."],
  [
    /moov atom not found|Invalid data found|could not find codec|Decoder .*not found|unknown codec/i,
    "input_unsupported",
    "The input cannot be read.",
  ],
  [/Cannot allocate memory/, "out_of_memory", "The work needs more memory than this encoder has."],
  [
    /Output file is empty|nothing was encoded/,
    "encode_failed",
    "The input has nothing in the time that is wanted.",
  ],
] as const;

function failure(log: readonly string[]): MediaError {
  const said = log.join("\n");
  for (const [pattern, kind, message] of CAUSES) {
    if (pattern.test(said)) return new MediaError(kind, message, { cause: said });
  }
  const last = log.at(-1);
  return new MediaError(
    "encode_failed",
    last ? `ffmpeg failed: ${last}` : "ffmpeg failed and did not say why.",
  );
}
