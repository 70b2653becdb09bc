import type { ByteReader } from "../../core/ports.ts";
import { KIB } from "../../util/bytes.ts";
import { type FileStart, limitReader } from "../file-start.ts";

// Ten frames of the largest size, plus the 4 KiB in which mediabunny (1.61) looks for the first.
const WINDOW = 24 * KIB;
const TAG_HEADER = 10;
const TAGS = 16;
const FRAME_START = 40;

/**
 * Limits an MP3 to its first frames after the ID3 tags, because mediabunny reads 64 KiB to find each frame. Null when no
 * frame directly follows the tags.
 */
export async function readMp3Start(reader: ByteReader): Promise<FileStart | null> {
  let at = 0;
  for (let tags = 0; tags < TAGS; tags++) {
    const head = await reader.read({ start: at, end: at + TAG_HEADER });
    const tag = tagSize(head);
    if (tag === 0 && !startsFrame(head)) return null;
    if (tag === 0) {
      return {
        reader: limitReader(reader, at + WINDOW),
        whole: false,
        body: reader.size - at,
        bitrate: await readBitrate(reader, at),
        fps: new Map(),
        ends: new Map(),
      };
    }
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
