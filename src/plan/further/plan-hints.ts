import type { Source } from "../../core/source.ts";
import type { ChunkHints } from "../chunks.ts";
import type { Joint } from "./join.ts";

/** What is known besides the source and the options. */
export interface PlanHints extends ChunkHints {
  /** What the probe says about the further inputs, in their order; absent before they are read. */
  further?: readonly Source[] | undefined;
  /** Whether the pictures of joined videos can be copied; null or absent where they are encoded anyway. */
  joint?: Joint | null | undefined;
}
