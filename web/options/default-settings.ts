import type { Source } from "../../src/index.ts";
import { isVector } from "../../src/media/containers.ts";
import { LOSSLESS_FORMAT } from "../../src/media/formats.ts";
import type { Item, Settings } from "../queue/item.ts";

/**
 * Returns the initial options for a file: the same kind, in the format that plays everywhere; PNG for an SVG, which is transparent.
 * The page converts the intact part of a file that is cut off, and the card lists what is missing.
 */
export function defaultSettings(
  source: Pick<Source, "kind"> & Partial<Pick<Source, "format" | "truncated">>,
): Settings {
  const kind = source.kind === "adaptive_video" || source.kind === "data" ? "video" : source.kind;
  return {
    kind,
    options: {
      ...(source.format !== undefined &&
        isVector({ format: source.format }) && { format: LOSSLESS_FORMAT.image }),
      ...(source.truncated && { partial: true }),
    },
    target_size: null,
    preset: null,
    place: "device",
  };
}

/**
 * Returns whether the settings are a preset's or the page's defaults, for a whole file. The page keeps the original instead of a larger
 * output only for these; the visitor's own options are always followed.
 */
export function isPageChoice({ kind, options, target_size, preset }: Settings, source: Source): boolean {
  const { start, end } = options as { start?: number; end?: number };
  if (start !== undefined || end !== undefined) return false;
  if (preset !== null) return true;
  const own = defaultSettings(source);
  return kind === own.kind && target_size === null && JSON.stringify(options) === JSON.stringify(own.options);
}

/** Returns whether to keep an item's original, because its output is larger and no better. */
export function keepsOriginal({ settings, source, input, task }: Item): boolean {
  const output = task?.steps.findLast((step) => step.output?.larger_than_source)?.output;
  if (!output || !source || input === null || typeof input === "string") return false;
  const isSameSize = output.width === source.width && output.height === source.height;
  return task?.status === "succeeded" && isSameSize && isPageChoice(settings, source);
}
