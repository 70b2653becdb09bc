import type { Chapter } from "../../core/chapters/chapters.ts";
import type { ByteReader } from "../../core/ports.ts";
import { findMovieIndex } from "../../probe/mp4.ts";
import { findBox, listBoxes, readBoxHeader, readTimescale } from "../../probe/mp4-boxes.ts";
import type { SubtitleTrack } from "../../subtitles/track.ts";
import { viewOf } from "../../util/bytes.ts";
import { writeNeroList } from "../chapters/write-chapters.ts";
import { type Bytes, box, lengthOf, letters, u32, u64 } from "../mp4/mp4-boxes.ts";
import { misfit } from "../stitch/packets.ts";
import type { Edit } from "./edit-file.ts";
import { textSamples, titleSamples, writeTextTrak } from "./mp4-text.ts";

const CONTAINERS: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "minf", "stbl"]);
// Larger offsets take 64 bits.
const MOST = 0xffffffff;

/**
 * Plans text tracks and chapters for a finished MP4 or MOV: a new index, followed by their samples, in place of the old one. Everything else
 * stays as it is. Chapters are Nero's list, and a track of titles for Apple's players.
 */
export async function addToMp4(
  reader: ByteReader,
  tracks: readonly SubtitleTrack[],
  chapters: readonly Chapter[],
  quicktime: boolean,
): Promise<Edit[]> {
  const range = await findMovieIndex(reader);
  if (!range) throw misfit("the index is missing");
  const moov = await reader.read(range);
  const view = viewOf(moov);
  const { header } = readBoxHeader(view, 0, moov.length);
  const whole = { kind: "moov", start: header, end: moov.length };
  const mvhd = findBox(view, whole, "mvhd");
  const movie = readTimescale(view, mvhd);
  if (!mvhd || movie === 0) throw misfit("the index is damaged");
  const wide = view.getUint8(mvhd.start) === 1;
  const length = wide ? Number(view.getBigUint64(mvhd.start + 24)) : view.getUint32(mvhd.start + 16);
  const until = Math.floor((length / movie) * 1000);
  const first = view.getUint32(mvhd.end - 4);
  const titles = titleSamples(chapters, until);
  const texts = [
    ...tracks.map((track) => ({ track, samples: textSamples(track, until) })),
    ...(titles ? [{ track: null, samples: titles }] : []),
  ].map((text, index) => ({ ...text, id: first + index }));
  const chap = titles ? box("chap", [u32(first + tracks.length)]) : [];
  const bytes = texts.flatMap(({ samples }) => samples.bytes);
  const mdat = texts.length > 0 ? [u32(1), letters("mdat"), u64(lengthOf(bytes) + 16)] : [];
  const list = chapters.length > 0 ? writeNeroList(chapters) : [];

  const write = (shift: number, large: boolean): Bytes => {
    let place = range.end + shift - lengthOf(bytes);
    const traks = texts.map((text) => {
      const trak = writeTextTrak({ ...text, place, movie, quicktime });
      place += lengthOf(text.samples.bytes);
      return trak;
    });
    const next = u32(first + texts.length);
    const boxes = listBoxes(view, whole.start, whole.end);
    const user = boxes.find(({ kind }) => kind === "udta");
    const content = boxes.flatMap((each) => {
      // First, because QuickTime ends the list with a zero.
      if (each === user) return box("udta", list, [moov.subarray(each.start, each.end)]);
      if (each.kind === "mvhd") {
        return [...box("mvhd", [moov.subarray(each.start, each.end - 4), next])];
      }
      return moveOffsets(moov, each, { after: range.end, shift, large, chap });
    });
    const first_list = user || list.length === 0 ? [] : box("udta", list);
    return box("moov", [...content, ...traks.flat(), ...first_list]);
  };
  const size = (large: boolean) => lengthOf(write(0, large)) + lengthOf(mdat) + lengthOf(bytes);
  const large = reader.size + size(true) > MOST;
  const shift = size(large) - (range.end - range.start);
  return [{ start: range.start, end: range.end, bytes: [...write(shift, large), ...mdat, ...bytes] }];
}

interface Move {
  /** Offsets at or after this one grow by `shift`. */
  after: number;
  shift: number;
  /** Whether they are written in 64 bits. */
  large: boolean;
  /** Refers from each track to that of the titles. */
  chap: Bytes;
}

function moveOffsets(
  moov: Uint8Array,
  { kind, start, end }: { kind: string; start: number; end: number },
  move: Move,
): Bytes {
  const view = viewOf(moov);
  if (CONTAINERS.has(kind)) {
    const boxes = listBoxes(view, start, end);
    const inside = boxes.flatMap((each) =>
      each.kind === "tref" && move.chap.length > 0 ? [] : moveOffsets(moov, each, move),
    );
    if (kind !== "trak" || move.chap.length === 0) return box(kind, inside);
    const others = boxes.filter((each) => each.kind === "tref");
    const tref = box(
      "tref",
      others.map((each) => moov.subarray(each.start, each.end)),
      move.chap,
    );
    return box(kind, inside, tref);
  }
  if (kind !== "stco" && kind !== "co64") return box(kind, [moov.subarray(start, end)]);
  const wide = kind === "co64";
  const count = Math.min(view.getUint32(start + 4), Math.floor((end - start - 8) / (wide ? 8 : 4)));
  const large = wide || move.large;
  const table = new DataView(new ArrayBuffer(8 + count * (large ? 8 : 4)));
  table.setUint32(4, count);
  for (let index = 0; index < count; index++) {
    const from = start + 8 + index * (wide ? 8 : 4);
    const offset = wide ? Number(view.getBigUint64(from)) : view.getUint32(from);
    const moved = offset >= move.after ? offset + move.shift : offset;
    if (large) table.setBigUint64(8 + index * 8, BigInt(moved));
    else table.setUint32(8 + index * 4, moved);
  }
  return box(large ? "co64" : "stco", [new Uint8Array(table.buffer)]);
}
