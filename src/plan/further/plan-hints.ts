import type { Source } from "../../core/source.ts";
import type { ChunkHints } from "../chunks.ts";

/** What is known besides the source and the options. */
export interface PlanHints extends ChunkHints {
  /** What the probe says about the further inputs, in their order; absent before they are read. */
  further?: readonly Source[] | undefined;
}
