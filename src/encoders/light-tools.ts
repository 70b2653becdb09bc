import type { Source } from "../core/source.ts";
import { type Toolset, WASM_TOOLS } from "../ffmpeg/toolset.ts";
import type { Plan } from "../plan/plan.ts";

export function lightTools(_plan: Plan, _source: Source): Toolset {
  return WASM_TOOLS;
}
