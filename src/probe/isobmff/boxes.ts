/** One box of an ISO base media file (ISO/IEC 14496-12, 4.2) within bytes in memory. */
export interface Box {
  kind: string;
  /** Start and end of its content in the bytes. */
  start: number;
  end: number;
}

/** Lists the boxes in a range; one that claims to extend beyond the end is the last and is cut there. */
export function listBoxes(view: DataView, start: number, end: number): Box[] {
  const boxes: Box[] = [];
  for (let at = start; at + 8 <= end; ) {
    const { kind, size, header } = readBoxHeader(view, at, end - at);
    if (size < header) break;
    boxes.push({ kind, start: at + header, end: Math.min(at + size, end) });
    at += size;
  }
  return boxes;
}

/** Finds the first box on a path of nested types; null when there is none. */
export function findBox(view: DataView, within: Box, ...path: string[]): Box | null {
  let found: Box | undefined = within;
  for (const kind of path) {
    found = found && listBoxes(view, found.start, found.end).find((box) => box.kind === kind);
  }
  return found ?? null;
}

/** Parses the header of a box that has `left` bytes up to the end of the file; a size of 0 extends to the end. */
export function readBoxHeader(
  view: DataView,
  at: number,
  left: number,
): { kind: string; size: number; header: number } {
  const short = view.getUint32(at);
  const kind = String.fromCharCode(...[4, 5, 6, 7].map((offset) => view.getUint8(at + offset)));
  if (short === 0) return { kind, size: left, header: 8 };
  if (short !== 1) return { kind, size: short, header: 8 };
  if (at + 16 > view.byteLength) return { kind, size: 0, header: 16 };
  return { kind, size: Number(view.getBigUint64(at + 8)), header: 16 };
}
