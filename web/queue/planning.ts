import { forecast, MediaError, optionsForSize, type Source } from "../../src/index.ts";
import type { Settings } from "./item.ts";

// This module loads with the first file: the planner is a third of the page.

/** Returns the options of the task that keeps an output within the requested size; throws `invalid_options` when none can. */
export function sizedOptions(
  { kind, options }: Settings,
  source: Source,
  bytes: number,
): Settings["options"] {
  return optionsForSize(kind, options, source, bytes);
}

/** Throws `input_unsupported` for a source whose facts can be read, but not its pictures: no option helps. */
export function refuseUnreadable(source: Source, { kind, options }: Settings): void {
  try {
    forecast(kind, options, source);
  } catch (thrown) {
    if (thrown instanceof MediaError && thrown.kind === "input_unsupported") throw thrown;
  }
}
