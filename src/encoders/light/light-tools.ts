import type { Source } from "../../core/source.ts";
import { type Toolset, WASM_TOOLS } from "../../ffmpeg/toolset.ts";
import type { Plan } from "../../plan/plan.ts";
import { chooseLevel } from "./light-estimate.ts";
import { LIGHT_MEMORY } from "./light-limits.ts";

/** Returns a core's tools for a plan, with the best x264 level that fits `memory` bytes. Default 96 MiB. */
export function lightTools(
  plan: Plan,
  source: Source,
  memory: number = LIGHT_MEMORY,
  tools: Toolset = WASM_TOOLS,
): Toolset {
  const { args } = chooseLevel(plan, source, memory);
  return { ...tools, video: { ...tools.video, h264: { encoder: "libx264", args } } };
}
