import type { Chunk, Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { type ChunkFiles, chunkArgs } from "../chunk-args.ts";
import type { Toolset } from "../toolset.ts";

/** One of the outputs of a single ffmpeg process. */
export interface Together extends Pick<ChunkFiles, "output" | "lists"> {
  plan: Plan;
  chunk: Chunk;
  source: Source;
}

/** Returns the arguments of one run that encodes several chunks with the same `decodeKey`. */
export function togetherArgs(outputs: readonly Together[], input: string, toolset: Toolset): string[] {
  return outputs.flatMap(({ plan, chunk, source, ...files }, at) => {
    const args = chunkArgs(plan, chunk, source, { ...files, input }, toolset);
    const rest = args.indexOf("-i") + 2;
    // Each graph decodes nothing of its own: ffmpeg passes every picture to all of them.
    const named = (arg: string, before = "") =>
      before === "-map" || before === "-filter_complex" ? arg.replace(/\[video\]$/, `[video${at}]`) : arg;
    const own = args.slice(rest).map((arg, index) => named(arg, args[rest + index - 1]));
    return at === 0 ? [...args.slice(0, rest), ...own] : own;
  });
}
