import { BURN_FONT } from "../../core/further/burn-font.ts";
import { furtherInputs, INPUT_ROLES } from "../../core/further/further-inputs.ts";
import type { Source } from "../../core/source.ts";
import { burntInput, type SubtitlesAsked } from "./burn.ts";

/** What a file beside the source is for: that of an option, or the font of burnt-in subtitles. */
export const FILE_ROLES = [...INPUT_ROLES, "font"] as const;
export type FileRole = (typeof FILE_ROLES)[number];

/** A file that a plan reads beside its source. */
export interface FurtherFile {
  role: FileRole;
  format: string;
  /** Bytes. */
  size: number;
  /** Pixels of one of its pictures; 0 when it has none or they are not known. */
  pixels: number;
}

/** Whether ffmpeg opens a file as an input; others are read by a filter. */
export function isInput({ role }: FurtherFile): boolean {
  return role !== "subtitles" && role !== "font";
}

/**
 * Returns the further files of a request that encoders read, of which `sources` are known; what is not known yet is none of their
 * formats. Burnt-in subtitles come last, as ASS of our own, with their font.
 */
export function furtherFiles(
  request: { options: object },
  sources: readonly Source[] = [],
): { further?: FurtherFile[] } {
  const read = furtherInputs(request).filter(({ role }) => role !== "subtitles");
  const further: FurtherFile[] = read.map(({ role }, at) => ({
    ...{ role, format: sources[at]?.format ?? "unknown" },
    size: sources[at]?.filesize ?? 0,
    pixels: (sources[at]?.width ?? 0) * (sources[at]?.height ?? 0),
  }));
  const burnt = burntInput(request.options as SubtitlesAsked);
  if (burnt !== null) {
    const size = ASS_HEAD + ASS_SHARE * (sources[burnt]?.filesize ?? 0);
    further.push({ role: "subtitles", format: "ass", size, pixels: 0 });
    further.push({ role: "font", format: "ttf", size: BURN_FONT.size, pixels: 0 });
  }
  return further.length > 0 ? { further } : {};
}

// Most bytes of our ASS: of its header, and for each byte of the file that it is made of.
const ASS_HEAD = 2048;
const ASS_SHARE = 3;
