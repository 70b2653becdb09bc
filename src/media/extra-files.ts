import { z } from "zod";
import { INPUT_ROLES, readerOf } from "./extra-inputs.ts";
import { plainName } from "./fields.ts";

/** A file that encoders read in addition to a plan's source: an extra input, or the script and font of drawn text. */
export const ExtraFile = z.strictObject({
  role: z.enum([...INPUT_ROLES, "text", "font"]),
  format: plainName,
  /** Bytes. */
  size: z.int().min(0),
  /** Pixels of one of its pictures, or of the letters of a script; 0 when it has none or the size is unknown. */
  pixels: z.int().min(0),
});
export interface ExtraFile extends z.infer<typeof ExtraFile> {}

/** Returns whether ffmpeg opens a file as an input; a filter reads the others. */
export function isFfmpegInput({ role }: ExtraFile): boolean {
  return role !== "text" && role !== "font" && readerOf(role) === "ffmpeg";
}

/** Returns whether a file is a script of drawn text, whose pixels are those of its letters. */
export function isScript({ role }: Pick<ExtraFile, "role">): boolean {
  return role === "text" || role === "subtitles";
}

/** Returns the name under which ffmpeg finds a file; its extension tells filters the format. */
export function nameForFfmpeg({ role, format }: ExtraFile): string {
  const isForFilter = role !== "text" && role !== "font" && readerOf(role) === "filter";
  return isForFilter ? `input.${format}` : "input";
}

interface Plan {
  further?: readonly ExtraFile[] | undefined;
  concat?: unknown;
}

/** Returns the extra files that a chunk of a plan reads: all or none. */
export function extraFilesOf(
  { further: extraFiles = [], concat }: Plan,
  { track }: { track: string },
): readonly ExtraFile[] {
  return track === "audio" && !concat ? [] : extraFiles;
}

/** Returns the bytes of the extra files that a chunk reads. */
export function extraBytes(plan: Plan, chunk: { track: string }): number {
  return extraFilesOf(plan, chunk).reduce((sum, { size }) => sum + size, 0);
}
