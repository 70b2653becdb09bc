import { losesProfile } from "../../media/features/color-profile.ts";
import type { Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { latinText, viewOf } from "../../util/bytes.ts";

/** A byte to replace in a picture's header. */
export interface HeaderRepair {
  at: number;
  value: number;
}

/** Bytes of a picture that {@link findRepair} needs. */
export const REPAIR_HEAD = 65_536;

/** Returns whether a source may need a repair. */
export function isRepairable({ kind, format }: Source): boolean {
  return kind === "image" && (format === "png" || format === "gif");
}

/**
 * Returns the byte of a PNG or GIF to replace so that ffmpeg (5.1) reads the picture as browsers do: it fails at a damaged color profile,
 * and fills the parts of a GIF that no frame covers with the background color. Null for other sources.
 */
export function findRepair(head: Uint8Array, source: Source, plan: Plan): HeaderRepair | null {
  if (!isRepairable(source)) return null;
  const view = viewOf(head);
  const { format, color_profile: profile } = source;
  try {
    if (format === "gif") return findBackground(view);
    const isCarried = profile && !profile.to_srgb && !losesProfile(plan.format, source);
    return isCarried ? null : findProfile(view);
  } catch (thrown) {
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

/** Applies a repair to the part of a file that starts at `start`. */
export function applyRepair(bytes: Uint8Array, start: number, repair: HeaderRepair | null): Uint8Array {
  const at = (repair?.at ?? 0) - start;
  if (!repair || at < 0 || at >= bytes.length) return bytes;
  const repaired = bytes.slice();
  repaired[at] = repair.value;
  return repaired;
}

const GIF_FLAGS = 10;
const GIF_BACKGROUND = 11;

// GIF89a, 18: ffmpeg takes a color beyond the end of the table for transparent.
function findBackground(view: DataView): HeaderRepair | null {
  const flags = view.getUint8(GIF_FLAGS);
  const isFull = (flags & 7) === 7;
  return latinText(view, 0, 3) === "GIF" && flags & 0x80 && !isFull
    ? { at: GIF_BACKGROUND, value: 255 }
    : null;
}

const PNG_START = 8;

// Decoders skip a chunk whose name they do not know.
function findProfile(view: DataView): HeaderRepair | null {
  for (let at = PNG_START; ; at += 12 + view.getUint32(at)) {
    const name = latinText(view, at + 4, 4);
    if (name === "IDAT") return null;
    if (name === "iCCP") return { at: at + 7, value: "p".charCodeAt(0) };
  }
}
