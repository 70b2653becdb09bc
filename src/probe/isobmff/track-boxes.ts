import { type Box, findBox } from "./boxes.ts";

/** Reads the ticks in a second of the times in an mvhd or mdhd (ISO/IEC 14496-12, 8.2.2 and 8.4.2); 0 when the box is absent or cut off. */
export function readTimescale(view: DataView, box: Box | null): number {
  if (!box || box.end - box.start < 24) return 0;
  // Two times stand before it, which are wide in version 1.
  return view.getUint32(box.start + (view.getUint8(box.start) === 1 ? 20 : 12));
}

/** Reads the four letters of what a track holds, such as `vide` or `soun` (8.4.3); null when nothing tells it. */
export function readHandler(view: DataView, trak: Box): string | null {
  const hdlr = findBox(view, trak, "mdia", "hdlr");
  if (!hdlr || hdlr.end - hdlr.start < 12) return null;
  const at = hdlr.start + 8;
  return String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)));
}

/** One entry of an edit list. */
export interface Edit {
  /** Ticks of the whole file. */
  length: number;
  /** Ticks of the track at which it begins; below 0 for nothing. */
  from: number;
  /** Whether it is played as fast as it was made. */
  plain: boolean;
  /** Whether it is the list's last. */
  last: boolean;
}

/** Reads an edit list (8.6.6) one entry at a time, as a damaged one may be long. */
export function* readEdits(view: DataView, elst: Box): Generator<Edit, void> {
  const wide = view.getUint8(elst.start) === 1;
  const size = wide ? 20 : 12;
  for (let at = elst.start + 8; at + size <= elst.end; at += size) {
    yield {
      length: wide ? Number(view.getBigUint64(at)) : view.getUint32(at),
      from: wide ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4),
      plain: view.getUint32(at + size - 4) === 0x10000,
      last: at + size >= elst.end,
    };
  }
}
