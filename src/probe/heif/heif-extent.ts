import type { Box } from "../isobmff/boxes.ts";

/**
 * Returns where the last byte of a HEIF file's items lies, from its box `iloc` (ISO/IEC 14496-12, 8.11.3): a file that is shorter is cut
 * off. Null where the box is of a kind that pictures do not have. Throws a RangeError where it lies beyond the view.
 */
export function lastExtent(view: DataView, iloc: Box): number | null {
  const version = view.getUint8(iloc.start);
  if (version > 2) return null;
  const [offsets, lengths] = nibbles(view.getUint8(iloc.start + 4));
  const [bases, indices] = nibbles(view.getUint8(iloc.start + 5));
  const wide = version === 2 ? 4 : 2;
  let at = iloc.start + 6;
  const take = (bytes: number): number => {
    let value = 0;
    for (let left = bytes; left > 0; left--) value = value * 256 + view.getUint8(at++);
    return value;
  };
  let last = 0;
  for (let items = take(wide); items > 0 && at < iloc.end; items--) {
    take(wide);
    // Method 0 counts from the start of the file, unless the data are in another one.
    const method = version === 0 ? 0 : take(2) & 15;
    const isHere = take(2) === 0 && method === 0;
    const base = take(bases);
    for (let extents = take(2); extents > 0 && at < iloc.end; extents--) {
      if (version > 0) take(indices);
      const end = base + take(offsets) + take(lengths);
      if (isHere) last = Math.max(last, end);
    }
  }
  return last;
}

function nibbles(byte: number): [number, number] {
  return [byte >> 4, byte & 15];
}
