import { type Source, type View, viewOf } from "../../src/index.ts";
import type { AnyOptions } from "./choices.ts";

/** Returns what the options show of a source's pictures; null while they are invalid, and when their size is unknown. */
export function checkedView(source: Source, options: AnyOptions): View | null {
  try {
    return viewOf(source, options);
  } catch {
    return null;
  }
}
