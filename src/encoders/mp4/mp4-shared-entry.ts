import { listBoxes } from "../../probe/mp4-boxes.ts";
import { concatBytes, viewOf } from "../../util/bytes.ts";
import { box, letters } from "./mp4-boxes.ts";

/** A sample entry of pictures as it is written for several files, and what all of them must share. */
export interface SharedEntry {
  entry: Uint8Array;
  /** Equal for pictures that one decoder plays in a row. */
  config: string;
  codec: SharedCodec;
  /** The decoder's configuration. */
  record: Uint8Array;
}

// Types of entries: what they are written as, with the parameter sets beside the stream that some players insist on, and the box of those.
const CODECS = {
  avc1: { codec: "avc1", box: "avcC" },
  hvc1: { codec: "hvc1", box: "hvcC" },
  hev1: { codec: "hvc1", box: "hvcC" },
} as const;
type SharedCodec = (typeof CODECS)[keyof typeof CODECS]["codec"];

// Offsets in an entry (ISO/IEC 14496-12, 12.1.3): what only QuickTime uses, the size, the compressor's name, and the boxes inside.
const PRIVATE = { start: 16, end: 32 };
const SIZE = { start: 32, end: 36 };
const NAME = { start: 50, end: 82 };
const INSIDE = 86;
// Pixel aspect, and what HDR pictures were made on.
const KEPT = ["pasp", "mdcv", "clli"] as const;

/** Reads a sample entry of pictures from another program, without what only that program knows; null for an unknown codec. */
export function readSharedEntry(entry: Uint8Array, quicktime: boolean): SharedEntry | null {
  const kind = String.fromCharCode(...entry.subarray(4, 8));
  const form = Object.hasOwn(CODECS, kind) ? CODECS[kind as keyof typeof CODECS] : null;
  if (!form || entry.length <= INSIDE) return null;
  const boxes = listBoxes(viewOf(entry), INSIDE, entry.length);
  const bytesOf = (kind: string) => {
    const found = boxes.find((each) => each.kind === kind);
    return found && entry.slice(found.start, found.end);
  };
  const record = bytesOf(form.box);
  if (!record) return null;
  if (form.codec === "hvc1") completeArrays(record);
  const color = bytesOf("colr");
  const colors = color && readColors(color);
  const kept = KEPT.flatMap((kind) => {
    const bytes = bytesOf(kind);
    return bytes ? [{ kind, bytes }] : [];
  });
  const header = entry.slice(0, INSIDE);
  header.fill(0, PRIVATE.start, PRIVATE.end);
  header.fill(0, NAME.start, NAME.end);
  const written = box(
    form.codec,
    [header.subarray(8)],
    box(form.box, [record]),
    ...kept.map(({ kind, bytes }) => box(kind, [bytes])),
    colors ? box("colr", [writeColors(colors, quicktime)]) : [],
  );
  const size = entry.subarray(SIZE.start, SIZE.end);
  const all = kept.map(({ kind, bytes }) => [kind, ...bytes].join(" "));
  const config = [form.codec, ...size, ...record, ...all, colors?.all].join(" ");
  return { entry: concatBytes(written), config, codec: form.codec, record };
}

// Whether all parameter sets are here (array_completeness; ISO/IEC 14496-15, 8.3.3.1), which an entry of this type states.
function completeArrays(record: Uint8Array): void {
  let at = 23;
  for (let left = record[22] ?? 0; left > 0 && at + 3 <= record.length; left--) {
    record[at] = (record[at] ?? 0) | 0x80;
    let units = numberAt(record, at + 1);
    at += 3;
    for (; units > 0 && at + 2 <= record.length; units--) at += 2 + numberAt(record, at);
  }
}

function numberAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
}

interface Colors {
  /** Primaries, transfer and matrix, of 16 bits each. */
  values: Uint8Array;
  full: boolean;
  all: string;
}

// QuickTime's form (nclc) has no range; both have three numbers (ISO/IEC 14496-12, 12.1.5).
function readColors(content: Uint8Array): Colors | null {
  const form = String.fromCharCode(...content.subarray(0, 4));
  if ((form !== "nclc" && form !== "nclx") || content.length < 10) return null;
  const values = content.subarray(4, 10);
  const full = form === "nclx" && ((content[10] ?? 0) & 0x80) !== 0;
  return { values, full, all: `${values.join(" ")} ${full}` };
}

function writeColors({ values, full }: Colors, quicktime: boolean): Uint8Array {
  if (quicktime) return concatBytes([letters("nclc"), values]);
  return concatBytes([letters("nclx"), values, Uint8Array.of(full ? 0x80 : 0)]);
}
