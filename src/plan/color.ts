import { toHex } from "../util/bytes.ts";

/**
 * Converts a hex color of 3, 4, 6 or 8 digits to `0xRRGGBB`, or to `0xRRGGBBAA` when it is not opaque and `alpha` is true;
 * without `alpha` it is blended onto black.
 */
export function parseColor(hex: string, alpha: boolean): string {
  const digits = hex.replace("#", "").toLowerCase();
  const full = digits.length < 6 ? digits.replace(/./g, "$&$&") : digits;
  const parts = [0, 2, 4].map((at) => Number.parseInt(full.slice(at, at + 2), 16));
  const opacity = full.length === 8 ? Number.parseInt(full.slice(6), 16) : 255;
  if (alpha && opacity < 255) return `0x${toHex([...parts, opacity])}`;
  return `0x${toHex(parts.map((part) => Math.round((part * opacity) / 255)))}`;
}

/** Opaque black. */
export const BLACK = "0x000000";
/** Fully transparent black. */
export const TRANSPARENT = "0x00000000";
