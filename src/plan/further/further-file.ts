import type { z } from "zod";
import { BURN_FONT } from "../../core/further/burn-font.ts";
import { furtherInputs } from "../../core/further/further-inputs.ts";
import type { Source } from "../../core/source.ts";
import type * as schema from "../plan-schema.ts";
import { burntInput, type SubtitlesAsked } from "./burn.ts";

export interface FurtherFile extends z.infer<typeof schema.FurtherFile> {}

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
