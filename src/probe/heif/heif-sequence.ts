import { MIB, viewOf } from "../../util/bytes.ts";
import { findBox, listBoxes, readBoxHeader } from "../isobmff/boxes.ts";
import { readTracks } from "../isobmff/sample-index.ts";
import { readTrackId } from "../isobmff/track-boxes.ts";
import { text } from "./heif-items.ts";

const TOP_BOXES = 64;
const MAX_INDEX = 24 * MIB;

/** Reads how many pictures a sequence in AVIF or HEIC has, and for how many seconds it shows them; null where its index does not say. */
export function readSequence(
  read: (start: number, end: number) => Uint8Array,
  fileSize: number,
): { frames: number; seconds: number } | null {
  let at = 0;
  for (let count = 0; count < TOP_BOXES && at + 8 <= fileSize; count++) {
    const { kind, size, header } = readBoxHeader(
      viewOf(read(at, Math.min(fileSize, at + 16))),
      0,
      fileSize - at,
    );
    if (size < header || at + size > fileSize) return null;
    if (kind === "moov") return size > MAX_INDEX ? null : readMoov(viewOf(read(at + header, at + size)));
    at += size;
  }
  return null;
}

// Its transparency is a track of another type, and it may have sound.
function readMoov(view: DataView): { frames: number; seconds: number } | null {
  const moov = { kind: "moov", start: 0, end: view.byteLength };
  const pictures = listBoxes(view, moov.start, moov.end).find((trak) => {
    const hdlr = findBox(view, trak, "mdia", "hdlr");
    return hdlr !== null && text(view, hdlr.start + 8, 4) === "pict";
  });
  const tkhd = pictures && findBox(view, pictures, "tkhd");
  const track = tkhd && readTracks(view, moov).tracks.get(readTrackId(view, tkhd));
  if (!track?.sound || track.packets === 0 || track.seconds <= 0) return null;
  return { frames: track.packets, seconds: track.seconds };
}
