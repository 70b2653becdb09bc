import type { SharedEntry } from "./mp4-shared-entry.ts";

// Slices of an instantaneous refresh (ITU-T H.264, table 7-1, and H.265, table 7-1), and all slices.
const TYPES = {
  avc1: { of: (first: number) => first & 0x1f, clean: [5, 5], slices: [1, 5], lengthAt: 4 },
  hvc1: { of: (first: number) => (first >> 1) & 0x3f, clean: [19, 20], slices: [0, 31], lengthAt: 21 },
} as const;

/**
 * Returns whether a decoder forgets all earlier pictures at an access unit. A container's mark of a sync sample is too little: an open
 * group may begin there, whose pictures refer to earlier ones or count their order on from them.
 */
export function startsClean(unit: Uint8Array, { codec, record }: SharedEntry): boolean {
  const { of, clean, slices, lengthAt } = TYPES[codec];
  const width = ((record[lengthAt] ?? 3) & 3) + 1;
  for (let at = 0; at + width < unit.length; ) {
    let size = 0;
    for (let byte = 0; byte < width; byte++) size = size * 256 + (unit[at + byte] ?? 0);
    const type = of(unit[at + width] ?? 0);
    if (type >= slices[0] && type <= slices[1]) return type >= clean[0] && type <= clean[1];
    at += width + size;
  }
  return false;
}
