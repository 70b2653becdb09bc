import { invalid, MediaError } from "../../core/errors.ts";
import { BOUNDS, FORMATS, type ImageFormat, STILL_FORMATS } from "../../core/formats.ts";
import type { ImageOptions } from "../../core/options.ts";
import type { Source } from "../../core/source.ts";
import type { Sheet } from "../plan.ts";
import type { Span } from "../span.ts";
import { countTiles } from "./storyboard.ts";

type Asked = Pick<ImageOptions, "start" | "interval" | "count">;

/** Returns whether options ask for several stills. */
export function asksStills({ interval, count }: Asked): boolean {
  return interval !== undefined || count !== undefined;
}

/** Plans the times of the stills of a video, each of which is a sheet of one tile. Throws `invalid_options` for too many. */
export function createStills({ duration }: Span, { interval: asked, count }: Asked): Sheet {
  if (duration === null) {
    throw new MediaError("input_unsupported", "The source's duration is unknown; several stills need it.");
  }
  // Rounded down, so that the last of a count lies within the video.
  const milliseconds =
    asked === undefined ? Math.floor((duration / (count ?? 1)) * 1000) : Math.round(asked * 1000);
  const interval = Math.max(1, milliseconds) / 1000;
  const tiles = count ?? countTiles(duration, interval);
  if (count !== undefined && count > Math.ceil(duration * 1000)) {
    const rule = `must be at most ${Math.ceil(duration * 1000)} for ${Number(duration.toFixed(3))} s.`;
    throw invalid("options.count", rule, "invalid_options");
  }
  if (tiles > BOUNDS.stills.max) {
    const rule = `must make at most ${BOUNDS.stills.max} stills; ${interval} s make ${tiles}.`;
    throw invalid("options.interval", rule, "invalid_options");
  }
  return { interval, tiles, columns: 1, rows: 1, sheets: tiles };
}

/** Returns the span of a still image, which has no times to choose from; throws `invalid_options` where one is asked for. */
export function stillSpan(options: Asked): Span {
  const { start, interval, count } = options;
  if ((start ?? 0) === 0 && !asksStills(options)) return { start: 0, end: null, duration: null };
  const param = interval !== undefined ? "interval" : count !== undefined ? "count" : "start";
  const rule = "needs a source with a timeline; this is a still image.";
  throw invalid(`options.${param}`, rule, "invalid_options");
}

/** Returns the format of a source where images can be written in it; undefined for any other. */
export function ownFormat({ kind, format }: Source, options: Asked): ImageFormat | undefined {
  const formats: readonly string[] = asksStills(options) ? STILL_FORMATS : Object.keys(FORMATS.image);
  return kind === "image" && formats.includes(format) ? (format as ImageFormat) : undefined;
}
