import { type Box, findBox } from "./boxes.ts";

/**
 * Returns the timescale, in ticks per second, of an mvhd or mdhd (ISO/IEC 14496-12, 8.2.2 and 8.4.2); 0 when the box is
 * absent or truncated.
 */
export function readTimescale(view: DataView, box: Box | null): number {
  if (!box || box.end - box.start < 24) return 0;
  // Two times precede it, which have 64 bits in version 1.
  return view.getUint32(box.start + (view.getUint8(box.start) === 1 ? 20 : 12));
}

/** Returns a track's id, from its tkhd (8.3.2). */
export function readTrackId(view: DataView, tkhd: Box): number {
  return view.getUint32(tkhd.start + (view.getUint8(tkhd.start) === 1 ? 20 : 12));
}

/** Returns a track's handler type, such as `vide` or `soun` (8.4.3); null when it is missing. */
export function readHandler(view: DataView, trak: Box): string | null {
  const hdlr = findBox(view, trak, "mdia", "hdlr");
  if (!hdlr || hdlr.end - hdlr.start < 12) return null;
  const at = hdlr.start + 8;
  return String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)));
}

export interface Edit {
  /** Ticks of the whole file. */
  length: number;
  /** Start in ticks of the track; below 0 for an empty edit. */
  from: number;
  /** Whether it plays at normal speed. */
  plain: boolean;
  /** Whether it is the last in the list. */
  last: boolean;
}

/** Parses an edit list (8.6.6) one entry at a time, because a damaged one may be long. */
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
