import { type Box, type Edit, readEdits } from "../../probe/mp4-boxes.ts";
import { type Bytes, box, fullBox, u32, u64 } from "./mp4-boxes.ts";

/** Which part of a track is shown, and when (ISO/IEC 14496-12, 8.6.6). */
export interface Mp4Edit {
  /** Seconds of empty time before it. */
  delay: number;
  /** Start in ticks of the track, for example after the priming of sound. */
  from: number;
  /** Seconds shown; null without an edit list, or when that leaves it open. */
  length: number | null;
  /** Tolerance of the length in seconds, because it is stored in ticks of the whole file. */
  grain: number;
}

/** Parses an edit list of empty edits followed by one stretch; null for any other. */
export function readEdit(
  view: DataView,
  elst: Box | null,
  ticks: number,
  movieTicks: number,
): Mp4Edit | null {
  if (ticks === 0 || movieTicks === 0) return null;
  const grain = 1 / movieTicks;
  let delay = 0;
  if (!elst) return { delay, from: 0, length: null, grain };
  for (const { length, from, plain, last } of readEdits(view, elst)) {
    if (from >= 0) {
      const only = plain && last;
      return only ? { delay, from, length: length === 0 ? null : length / movieTicks, grain } : null;
    }
    delay += length / movieTicks;
  }
  return null;
}

export type WrittenEdit = Pick<Edit, "length" | "from">;

/** The properties of a track that its edits depend on. */
interface ShownTrack {
  first: { kind: "vide" | "soun"; ticks: number; edit: Mp4Edit };
  /** Tick at which the first sample is shown. */
  start: number;
  /** Ticks from the start to the end of the last sample. */
  duration: number;
}

/** Returns the edits that show a track from its first picture to its last, or sound as its only part did. */
export function editsOf({ first, start, duration }: ShownTrack, movieTicks: number): WrittenEdit[] {
  const { kind, ticks, edit } = first;
  const pictures = kind === "vide";
  const from = pictures ? Math.max(0, -start) : edit.from;
  const delay = pictures ? Math.max(0, start) / ticks : edit.delay;
  const rest = Math.max(0, duration - from) / ticks;
  // A coarse length close to the remaining duration means all of it.
  const cut = !pictures && edit.length !== null && Math.abs(edit.length - rest) > 2 * edit.grain;
  const shown = { length: Math.round((cut ? (edit.length ?? rest) : rest) * movieTicks), from };
  return delay > 0 ? [{ length: Math.round(delay * movieTicks), from: -1 }, shown] : [shown];
}

/** Writes the edits of a track; nothing when it is shown unedited. */
export function writeEdits(edits: readonly WrittenEdit[]): Bytes {
  if (edits.length === 1 && edits[0]?.from === 0) return [];
  const wide = edits.some(({ length, from }) => length > 0xffffffff || from > 0x7fffffff);
  const number = wide ? u64 : u32;
  const entries = edits.flatMap(({ length, from }) => [number(length, from), u32(0x10000)]);
  return box("edts", fullBox("elst", wide ? 1 : 0, 0, [u32(edits.length), ...entries]));
}
