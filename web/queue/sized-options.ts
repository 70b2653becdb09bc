import { optionsForSize, type Source } from "../../src/index.ts";
import type { Wishes } from "./item.ts";

/** Returns the options of the task that keeps an output within the requested size; throws `invalid_options` when none can. */
export function sizedOptions({ kind, options }: Wishes, source: Source, bytes: number): Wishes["options"] {
  return optionsForSize(kind, options, source, bytes);
}
