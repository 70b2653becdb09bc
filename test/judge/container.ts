import { readFile } from "node:fs/promises";

/** Returns the format of a file by its first bytes: a key of FORMATS, or null. */
export async function readContainer(path: string): Promise<string | null> {
  const bytes = await readFile(path);
  const text = (start: number, end: number) => bytes.toString("latin1", start, end);
  const starts = (hex: string) => bytes.subarray(0, hex.length / 2).toString("hex") === hex;
  if (text(4, 8) === "ftyp") {
    const brand = text(8, 12);
    return brand === "qt  " ? "mov" : /^avi[fs]$/.test(brand) ? "avif" : "mp4";
  }
  // DocType of the EBML header.
  if (starts("1a45dfa3")) return text(0, 64).includes("\x42\x82\x84webm") ? "webm" : "matroska";
  if (text(0, 4) === "RIFF") return text(8, 12) === "WAVE" ? "wav" : text(8, 12) === "WEBP" ? "webp" : null;
  if (text(0, 4) === "OggS") return text(28, 36) === "OpusHead" ? "opus" : "ogg";
  if (text(0, 4) === "fLaC") return "flac";
  if (text(0, 3) === "GIF") return "gif";
  if (starts("89504e470d0a1a0a")) return "png";
  if (starts("ffd8ff")) return "jpeg";
  if (text(0, 7) === "#EXTM3U") return "hls";
  if (text(0, 3) === "ID3" || starts("fffb") || starts("fff3")) return "mp3";
  // ADTS: twelve ones, then layer 0.
  if (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xf6) === 0xf0) return "aac";
  return null;
}

/** Returns the names of the top-level boxes of an MP4 or MOV file in order. */
export async function readBoxes(path: string): Promise<string[]> {
  const bytes = await readFile(path);
  const names: string[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    names.push(bytes.toString("latin1", at + 4, at + 8));
    const size = bytes.readUInt32BE(at);
    if (size < 8) break;
    at += size;
  }
  return names;
}

/** The canvas of an animated WebP and the milliseconds each frame lasts. */
export interface WebpAnimation {
  width: number;
  height: number;
  delays: number[];
}

/** Parses a WebP file, as native ffmpeg cannot read an animated one; null for a still. */
export async function readWebpAnimation(path: string): Promise<WebpAnimation | null> {
  const bytes = await readFile(path);
  const delays: number[] = [];
  let size = { width: 0, height: 0 };
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString("latin1", at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const body = at + 8;
    if (name === "VP8X") {
      size = { width: 1 + bytes.readUIntLE(body + 4, 3), height: 1 + bytes.readUIntLE(body + 7, 3) };
    }
    if (name === "ANMF") delays.push(bytes.readUIntLE(body + 12, 3));
    at = body + length + (length % 2);
  }
  return delays.length > 0 ? { ...size, delays } : null;
}
