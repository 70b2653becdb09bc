import { ADTS, FLAC, type InputFormat, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from "mediabunny";
import type { ByteReader } from "../runs/ports.ts";
import { latinText, viewOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import { isBigTiff } from "./exif.ts";
import { readPnm, reportOf, type StillReport } from "./still.ts";
import { decodeSvg, findSvgRoot } from "./svg.ts";

const HEAD = 4096;
const TEXT = 512;

/** Returns the first bytes of a file. Throws `input_unsupported`, which names the file's type, when they are not of a media file. */
export async function sniff(reader: ByteReader, signal?: AbortSignal): Promise<Uint8Array> {
  if (reader.size === 0) throw errors.empty();
  const head = await reader.read({ start: 0, end: HEAD }, signal);
  if (head.every((byte) => byte === head[0])) throw errors.noMedia();
  if (head[0] === 0x1f && head[1] === 0x8b) throw errors.gzip();
  if (isSvg(head)) return head;
  if (isJpegXl(head)) throw errors.jpegXl();
  if (isBigTiff(head)) throw errors.bigTiff();
  const text = asText(head.subarray(0, TEXT), reader.size > TEXT);
  if (text === null) return head;
  if (/<(!doctype html|html|head|body)\b/i.test(text)) throw errors.webPage();
  if (/^\s*#EXTM3U/.test(text)) throw errors.playlist();
  if (isTextualStill(text)) return head;
  if (/^(P[1-7FfHh]?[\s#]|YUV4MPEG2 )/.test(text)) return head;
  throw errors.text();
}

/** Returns whether a file is an SVG, from its first bytes. */
export function isSvg(head: Uint8Array): boolean {
  const text = decodeSvg(head, true);
  return text !== null && findSvgRoot(text) !== null;
}

function asText(head: Uint8Array, cut: boolean): string | null {
  if (head.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27))) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(head, { stream: cut });
  } catch {
    return null;
  }
}

// Old QuickTime files have no ftyp and start with any of these boxes.
const BOXES: ReadonlySet<string> = new Set(["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot"]);
const OGG_HEADS = ["OpusHead", "\u0001vorbis"];

// ISO/IEC 11172-3, 2.4.2.3: layer III, and 0 in ADTS. mediabunny mistakes layers I and II for III.
const LAYERS: ReadonlySet<number> = new Set([2, 0]);

/**
 * Returns mediabunny's formats that a file may have, from its first bytes; empty to leave it to ffprobe. Only a signature at the
 * very start counts, because MP3 frames also occur inside other files.
 */
export function formatsOf(head: Uint8Array): InputFormat[] {
  const at = (start: number, end: number) => String.fromCharCode(...head.subarray(start, end));
  if (BOXES.has(at(4, 8))) return [MP4, QTFF];
  if (at(0, 4) === "\u001aE\u00df\u00a3") return [MATROSKA, WEBM];
  if (/^(RIFF|RIFX|RF64)$/.test(at(0, 4)) && at(8, 12) === "WAVE") return [WAVE];
  if (at(0, 4) === "fLaC") return [FLAC];
  if (at(0, 4) === "OggS") return isPlainOgg(head) ? [OGG] : [];
  if (at(0, 3) === "ID3") return [FLAC, MP3, ADTS];
  const second = head[1] ?? 0;
  return head[0] === 0xff && (second & 0xe0) === 0xe0 && LAYERS.has(second & 6) ? [MP3, ADTS] : [];
}

// mediabunny would silently skip unknown streams, which the first pages open (RFC 3533).
function isPlainOgg(head: Uint8Array): boolean {
  for (let at = 0; at + 27 < head.length; ) {
    const opens = ((head[at + 5] ?? 0) & 2) !== 0;
    if (String.fromCharCode(...head.subarray(at, at + 4)) !== "OggS" || !opens) break;
    const segments = head[at + 26] ?? 0;
    const body = at + 27 + segments;
    const first = String.fromCharCode(...head.subarray(body, body + 8));
    if (!OGG_HEADS.some((start) => first.startsWith(start))) return false;
    at = body + head.subarray(at + 27, body).reduce((sum, size) => sum + size, 0);
  }
  return true;
}

/**
 * Returns a report like ffprobe's on a PAM, PPM, PGM or PBM from its first bytes, because ffmpeg (5.1) recognizes some only by the file's
 * name; null for other files.
 */
export function readPortableStill(head: Uint8Array): StillReport | null {
  return readPam(head) ?? readPnm(viewOf(head));
}

const PAM_PIXELS: Readonly<Record<string, string>> = {
  "1": "gray",
  "2": "ya8",
  "3": "rgb24",
  "4": "rgba",
  "1 deep": "gray16be",
  "2 deep": "ya16be",
  "3 deep": "rgb48be",
  "4 deep": "rgba64be",
};

// netpbm.sourceforge.net/doc/pam.html
function readPam(head: Uint8Array): StillReport | null {
  const text = String.fromCharCode(...head.subarray(0, 512));
  if (!/^P7\s/.test(text)) return null;
  const [header = ""] = text.split("ENDHDR");
  const read = (name: string) => Number(new RegExp(`^${name}\\s+(\\d+)`, "m").exec(header)?.[1]);
  const [width, height, depth, max] = ["WIDTH", "HEIGHT", "DEPTH", "MAXVAL"].map(read);
  const pix_fmt = PAM_PIXELS[`${depth}${(max ?? 0) > 255 ? " deep" : ""}`];
  return width && height && pix_fmt
    ? reportOf("pam_pipe", { codec_name: "pam", width, height, pix_fmt }, {})
    : null;
}

const TGA = { mapped: 1, rgb: 2, gray: 3, packed: 8 } as const;
const TGA_PIXELS: Readonly<Record<string, string>> = {
  "1 8": "pal8",
  "2 15": "rgb555le",
  "2 16": "rgb555le",
  "2 24": "bgr24",
  "2 32": "bgra",
  "3 8": "gray",
};

/**
 * Returns a report like ffprobe's on a TGA from its first bytes, because ffmpeg (5.1) recognizes it only by the file's name; null for
 * other files, which may have to be recognized first.
 */
export function readTga(head: Uint8Array): StillReport | null {
  // Truevision TGA 2.0: there is no signature at the start, so all fields must be plausible. The decoder honors the origin.
  const view = viewOf(head);
  if (view.byteLength < 18) return null;
  const [map, type] = [view.getUint8(1), view.getUint8(2)];
  const kind = type & ~TGA.packed;
  const [width, height] = [view.getUint16(12, true), view.getUint16(14, true)];
  const pix_fmt = TGA_PIXELS[`${kind} ${view.getUint8(16)}`];
  const mapBits = view.getUint8(7);
  const hasMap = map === 1 && view.getUint16(5, true) > 0 && [15, 16, 24, 32].includes(mapBits);
  const isPlausible = kind === TGA.mapped ? hasMap : map === 0 || hasMap;
  if (!pix_fmt || !isPlausible || (view.getUint8(17) & 0xc0) !== 0 || !width || !height) return null;
  return reportOf("targa_pipe", { codec_name: "targa", width, height, pix_fmt }, {});
}

/** Returns whether a text is the source code of an XBM, or the header of a FITS. */
function isTextualStill(text: string): boolean {
  return /^\s*(\/\*[\s\S]*?\*\/\s*)?#define\s+\w*width\s+\d+/.test(text) || text.startsWith("SIMPLE  =");
}

/** Returns whether a file is a JPEG XL, as a codestream or in boxes. */
function isJpegXl(head: Uint8Array): boolean {
  const view = viewOf(head);
  if (view.byteLength < 12) return false;
  return view.getUint16(0) === 0xff0a || (view.getUint32(0) === 12 && latinText(view, 4, 4) === "JXL ");
}
