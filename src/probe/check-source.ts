import { BOUNDS } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import { unsupported } from "./sniff.ts";

/** Throws `input_unsupported` for sound or moving pictures without any frame in ffprobe's report. */
export function checkFrames(source: Source, report: unknown): void {
  const { frames } = report as { frames?: unknown };
  const none = Array.isArray(frames) && frames.length === 0;
  if (none && source.kind !== "image" && source.duration === undefined) {
    throw unsupported("The file's streams are empty.");
  }
}

/** Throws `input_unsupported` for pictures of absurd size, on which no step could work. */
export function checkSource(source: Source): Source {
  if (source.codecs?.video == null) return source;
  const { max } = BOUNDS.pixels;
  const { width = 0, height = 0, coded_width = width, coded_height = height } = source;
  const sides = [width, height, coded_width, coded_height];
  if (sides.every((side) => side >= 1 && side <= max)) return source;
  throw unsupported(`The pictures are ${width}x${height} pixels; each side must be from 1 to ${max}.`);
}
