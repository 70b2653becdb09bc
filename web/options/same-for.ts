import type { Source } from "../../src/index.ts";
import type { Wishes } from "../queue/item.ts";
import { judged } from "./check-wishes.ts";
import type { AnyOptions } from "./choices.ts";
import { fromPreset, type Preset } from "./presets/presets.ts";

/**
 * Returns the options for another file that match these: a preset in the size that suits that file, anything else unchanged.
 * The other file keeps its trim.
 */
export function sameFor(
  wishes: Wishes,
  presets: readonly Preset[],
  other: { readonly wishes: Wishes; readonly source: Source },
): Wishes {
  const preset = presets.find(({ id }) => id === wishes.preset);
  const same = preset
    ? { ...fromPreset(preset, other.wishes, other.source), place: wishes.place }
    : { ...wishes, options: withTimesOf(other.wishes.options, wishes.options) };
  return judged(same, other.source);
}

function withTimesOf(
  { start, end }: AnyOptions,
  { start: _start, end: _end, ...options }: AnyOptions,
): Wishes["options"] {
  const all: AnyOptions = { ...options, start, end };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
