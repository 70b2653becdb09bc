import type { Source } from "../../src/index.ts";
import type { Wishes } from "../queue/item.ts";

/** Returns the initial options for a file: the same kind, in the format that plays everywhere; PNG for an SVG, which is transparent. */
export function defaultWishes(source: Pick<Source, "kind"> & Partial<Pick<Source, "format">>): Wishes {
  const kind = source.kind === "adaptive_video" || source.kind === "data" ? "video" : source.kind;
  return {
    kind,
    options: source.format === "svg" ? { format: "png" } : {},
    target_size: null,
    preset: null,
    place: "device",
  };
}
