import { join } from "node:path";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { outputFile } from "../../src/media/ffmpeg/output-files.ts";
import { NATIVE_TOOLS, type Toolset } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { Chunk, ChunkHints, Plan } from "../../src/media/index.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import { planOfChunk } from "../../src/media/timeline.ts";
import { makeFolder } from "../fixtures/end-of-file.ts";
import { runProgram } from "../fixtures/native-program.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probe } from "../probe/probe-file.ts";

export interface Encoded {
  chunk: Chunk;
  /** The file, or the master playlist of adaptive video. */
  path: string;
  /** ffmpeg's warnings. */
  log: string;
}

/** Encodes one chunk of a plan with native ffmpeg and the arguments for a toolset. */
export async function encodeChunk(
  input: string,
  source: Source,
  plan: Plan,
  chunk: Chunk,
  toolset: Toolset = NATIVE_TOOLS,
): Promise<Encoded> {
  const folder = await makeFolder("args");
  const path = join(folder, outputFile(plan, chunk).name);
  const output = plan.kind === "adaptive_video" ? folder : path;
  const args = chunkArgs(planOfChunk(plan, chunk), chunk, source, { input, output }, toolset);
  const common = ["-v", "warning", "-nostdin", "-y"];
  const { stderr } = await runProgram("ffmpeg", [...common, ...args], 120_000);
  return { chunk, path, log: stderr.toString() };
}

/** Probes a file, plans its encode and runs every chunk with native ffmpeg. */
export async function encode<K extends EncodeKind>(
  input: string,
  kind: K,
  options: OptionsOf<K>,
  { toolset = NATIVE_TOOLS, ...hints }: ChunkHints & { toolset?: Toolset } = {},
): Promise<{ plan: Plan; source: Source; chunks: Encoded[]; path: string }> {
  const source = await probe(input);
  const plan = createPlan(source, kind, options, hints);
  const chunks: Encoded[] = [];
  for (const chunk of plan.chunks) chunks.push(await encodeChunk(input, source, plan, chunk, toolset));
  const path = chunks[0]?.path ?? "";
  return { plan, source, chunks, path };
}
