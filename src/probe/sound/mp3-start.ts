import type { ByteReader } from "../../core/ports.ts";
import { KIB, viewOf } from "../../util/bytes.ts";
import { type FileStart, limitReader } from "../file-start.ts";

// Ten frames of the largest size, plus the 4 KiB in which mediabunny (1.61) looks for the first.
const WINDOW = 24 * KIB;
const TAG_HEADER = 10;
const TAGS = 16;
const FRAME_START = 40;

// The tag that LAME writes into the first frame, as other encoders do: numbers of frames and of bytes, a table of contents and a quality,
// each where a flag says so, and 21 bytes on the encoder's delay in 12 bits (gabriel.mp3-tech.org/mp3infotag.html).
const FIRST_FRAME = 256;
const XING = /Xing|Info/;
const XING_FIELDS = [4, 4, 100, 4] as const;
const LAME_TAGS: ReadonlySet<string> = new Set(["LAME", "Lavf", "Lavc"]);
// Samples that a decoder adds to it.
const DECODER_DELAY = 529;

/**
 * Limits an MP3 to its first frames after the ID3 tags, because mediabunny reads 64 KiB to find each frame. Null when no
 * frame directly follows the tags.
 */
export async function readMp3Start(reader: ByteReader): Promise<FileStart | null> {
  const at = await findFrame(reader);
  return (
    at && {
      reader: limitReader(reader, at.frame + WINDOW),
      whole: false,
      body: reader.size - at.frame,
      bitrate: await readBitrate(reader, at.frame),
      fps: new Map(),
      ends: new Map(),
    }
  );
}

/** Returns how many samples of an MP3 players skip at its start, by its LAME tag; 0 without one. */
export async function readMp3Delay(reader: ByteReader): Promise<number> {
  const at = await findFrame(reader);
  const bytes = at && (await reader.read({ start: at.frame, end: at.frame + FIRST_FRAME }));
  const found = bytes && XING.exec(String.fromCharCode(...bytes));
  if (!found) return 0;
  const flags = viewOf(bytes).getUint32(found.index + 4);
  const lengths = XING_FIELDS.filter((_, bit) => (flags >> bit) & 1);
  const tag = found.index + 8 + lengths.reduce((sum, length) => sum + length, 0);
  const encoder = String.fromCharCode(...bytes.subarray(tag, tag + 4));
  if (!LAME_TAGS.has(encoder) || tag + 24 > bytes.length) return 0;
  return (viewOf(bytes).getUint16(tag + 21) >> 4) + DECODER_DELAY;
}

async function findFrame(reader: ByteReader): Promise<{ frame: number } | null> {
  let at = 0;
  for (let tags = 0; tags < TAGS; tags++) {
    const head = await reader.read({ start: at, end: at + TAG_HEADER });
    const tag = tagSize(head);
    if (tag === 0) return startsFrame(head) ? { frame: at } : null;
    at += tag;
  }
  return null;
}

// ID3v2 (id3.org, 3.1): the size has four bytes of seven bits and excludes the header.
function tagSize(head: Uint8Array): number {
  if (head.length < TAG_HEADER || String.fromCharCode(...head.subarray(0, 3)) !== "ID3") return 0;
  return TAG_HEADER + head.subarray(6, TAG_HEADER).reduce((size, byte) => size * 128 + (byte & 0x7f), 0);
}

// LAME and others store the number of frames in the first one, after 9 to 32 bytes of side information: Xing for a variable
// bitrate, Info for a constant one.
async function readBitrate(reader: ByteReader, at: number): Promise<FileStart["bitrate"]> {
  const frame = String.fromCharCode(...(await reader.read({ start: at, end: at + FRAME_START })));
  if (frame.includes("Xing")) return "variable";
  return frame.includes("Info") ? "constant" : "unknown";
}

// Eleven bits of sync, and a layer (ISO/IEC 11172-3, 2.4.1.3), which ADTS frames lack.
function startsFrame([first = 0, second = 0]: Uint8Array): boolean {
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0;
}
