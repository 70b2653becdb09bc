import { optionsForSize, type Source } from "../../src/index.ts";
import type { Wishes } from "./item.ts";

/** Gives the options of the task that keeps an output within the size that is wished for; throws `invalid_options` where none can. */
export function sizedOptions({ kind, options }: Wishes, source: Source, bytes: number): Wishes["options"] {
  return optionsForSize(kind, options, source, bytes);
}
