import { COVER_CODECS, tagPlace } from "../../core/tags.ts";
import { type FileMetadata, NUMBERED, numbersOf } from "../run/file-metadata.ts";
import { type Bytes, box, fullBox, letters, u16, u32 } from "./mp4-boxes.ts";

// Value types in the iTunes list.
const TYPES = { bytes: 0, text: 1, [COVER_CODECS.mjpeg]: 13, [COVER_CODECS.png]: 14 } as const;
// "und", as packed in mdhd.
const NO_LANGUAGE = 0x55c4;

/** Writes tags and cover for the end of an index: an iTunes list in an MP4, texts in a MOV, nothing when there are none. */
export function writeUserData(quicktime: boolean, { tags, cover }: FileMetadata): Bytes {
  const entries = Object.entries(tags).flatMap(([name, value]) => {
    const place = tagPlace(name, quicktime ? "mov" : "mp4");
    return place ? [{ place, value }] : [];
  });
  const items = quicktime
    ? entries.flatMap(writeText)
    : [...entries.flatMap(writeItem), ...writeCover(cover)];
  if (items.length === 0) return [];
  if (quicktime) return box("udta", items);
  const handler = fullBox("hdlr", 0, 0, [
    ...[u32(0), letters("mdir"), letters("appl"), u32(0, 0), Uint8Array.of(0)],
  ]);
  return box("udta", fullBox("meta", 0, 0, handler, box("ilst", items)));
}

interface Entry {
  place: string;
  value: string;
}

function writeText({ place, value }: Entry): Bytes {
  const text = new TextEncoder().encode(value);
  return box(place, [u16(text.length, NO_LANGUAGE), text]);
}

function writeItem({ place, value }: Entry): Bytes {
  const isNumber = NUMBERED.has(place);
  const bytes = isNumber ? numbersOf(value) : new TextEncoder().encode(value);
  return box(place, box("data", [u32(isNumber ? TYPES.bytes : TYPES.text, 0), bytes]));
}

function writeCover(cover: FileMetadata["cover"]): Bytes {
  if (!cover) return [];
  return box("covr", box("data", [u32(TYPES[cover.mime as keyof typeof TYPES] ?? 0, 0), cover.bytes]));
}
