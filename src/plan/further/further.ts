import type { InputRole } from "../../core/further/further-inputs.ts";
import type { Source } from "../../core/source.ts";
import type { Chunk, Plan } from "../plan.ts";
import { concatFault } from "./concat.ts";
import type { FurtherFile } from "./further-file.ts";

/** Returns the further files that a chunk of a plan reads, which are all or none. */
export function furtherOf({ further = [], concat }: Plan, { track }: Chunk): readonly FurtherFile[] {
  return track === "audio" && !concat ? [] : further;
}

/** Returns the bytes of the further files that a chunk reads. */
export function furtherBytes(plan: Plan, chunk: Chunk): number {
  return furtherOf(plan, chunk).reduce((sum, { size }) => sum + size, 0);
}

/** Returns why a file cannot have a role, as a sentence; null when it can. */
export function furtherFault(role: InputRole, source: Source): string | null {
  return FAULTS[role](source);
}

const LAID: ReadonlySet<string> = new Set(["png", "jpeg", "webp", "gif", "bmp", "tiff"]);

const FAULTS: { readonly [R in InputRole]: (source: Source) => string | null } = {
  // What they hold is known once their text is read.
  subtitles: () => null,
  overlay: ({ kind, format, animated }) => {
    // Encoders need the host's decoder for others, and it reads only the main input.
    if (kind === "image" && LAID.has(format) && !(format === "webp" && animated)) return null;
    const found = animated ? `animated ${format}` : format;
    return `It must be a picture in PNG, JPEG, WebP that is not animated, GIF, BMP or TIFF; it is ${found}.`;
  },
  concat: concatFault,
};
