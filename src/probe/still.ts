import type { ByteReader } from "../runs/ports.ts";
import { latinText, viewOf } from "../util/bytes.ts";
import { findOrientation } from "./exif.ts";

/** A report on a still, in the form of ffprobe's JSON. */
export interface StillReport {
  format: { format_name: string };
  streams: Record<string, unknown>[];
  frames: Record<string, unknown>[];
}

// Cameras write a thumbnail and maker notes before the picture.
const HEAD = 262_144;

/**
 * Returns ffprobe's report on a common JPEG or WebP from its first and last bytes, without decoding. Null for any other format,
 * and for unusual files. Rejects as the reader does.
 */
export async function readStill(reader: ByteReader, signal: AbortSignal): Promise<StillReport | null> {
  const head = await reader.read({ start: 0, end: HEAD }, signal);
  const view = viewOf(head);
  try {
    if (view.getUint16(0) === 0xffd8) {
      const tail = await reader.read({ start: Math.max(0, reader.size - 2), end: reader.size }, signal);
      return tail[0] === 0xff && tail[1] === 0xd9 ? readJpeg(view) : null;
    }
    return readWebp(view, reader.size);
  } catch (thrown) {
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

const FULL = { color_range: "pc", color_space: "bt470bg", bits_per_raw_sample: "8" } as const;
const PIXELS: ReadonlyMap<number, string> = new Map([
  [0x1111, "yuvj444p"],
  [0x1212, "yuvj444p"],
  [0x2222, "yuvj444p"],
  [0x2111, "yuvj422p"],
  [0x2212, "yuvj422p"],
  [0x2211, "yuvj420p"],
]);

/**
 * Returns whether a four-component JPEG has no Adobe marker and so is CMYK, as other decoders read it; ffmpeg (5.1) takes it for YCbCr
 * with transparency.
 */
export async function isUnmarkedCmyk(reader: ByteReader, signal: AbortSignal): Promise<boolean> {
  const view = viewOf(await reader.read({ start: 0, end: HEAD }, signal));
  try {
    for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
      const marker = view.getUint16(at);
      if (marker === 0xffee && latinText(view, at + 4, 5) === "Adobe") return false;
      if (marker === 0xffda) return true;
    }
  } catch (thrown) {
    if (thrown instanceof RangeError) return false;
    throw thrown;
  }
}

// ITU-T T.81, B.2.
function readJpeg(view: DataView): StillReport | null {
  let stream: Record<string, unknown> | null = null;
  let orientation: number | null = null;
  for (let at = 2; ; ) {
    const marker = view.getUint16(at);
    const [body, end] = [at + 4, at + 2 + view.getUint16(at + 2)];
    if (marker === 0xffda) break;
    if (marker >= 0xffc0 && marker <= 0xffc2) {
      if (stream) return null;
      stream = jpegStream(view, body);
      if (!stream) return null;
    } else if (marker === 0xffe0 && latinText(view, body, 5) === "JFIF\0") {
      const [across, down] = [view.getUint16(body + 8), view.getUint16(body + 10)];
      if (across === 0 || across !== down) return null;
    } else if (marker === 0xffe1 && latinText(view, body, 6) === "Exif\0\0") {
      const exif = new DataView(view.buffer, view.byteOffset + body + 6, end - body - 6);
      orientation ??= findOrientation(exif)?.value ?? null;
    } else if (isUnusual(view, marker, body)) return null;
    at = end;
  }
  if (!stream) return null;
  const tags = orientation === null ? {} : { tags: { Orientation: String(orientation) } };
  return reportOf("jpeg_pipe", { codec_name: "mjpeg", ...stream }, tags);
}

function jpegStream(view: DataView, body: number): Record<string, unknown> | null {
  const [height, width] = [view.getUint16(body + 1), view.getUint16(body + 3)];
  const [bits, parts] = [view.getUint8(body), view.getUint8(body + 5)];
  if (bits !== 8 || parts !== 3 || width === 0 || height === 0) return null;
  const [luma = 0, chroma = 0, other] = [0, 1, 2].map((index) => view.getUint8(body + 7 + 3 * index));
  // Some encoders name the components R, G and B.
  const names = [0, 1, 2].map((index) => view.getUint8(body + 6 + 3 * index));
  const pix_fmt = PIXELS.get(luma * 256 + chroma);
  if (!pix_fmt || other !== chroma || names.join() !== "1,2,3") return null;
  return { width, height, pix_fmt, ...FULL };
}

function isUnusual(view: DataView, marker: number, body: number): boolean {
  if (marker === 0xffee && latinText(view, body, 5) === "Adobe") return view.getUint8(body + 11) !== 1;
  const isTable = marker === 0xffc4 || marker === 0xffdb || marker === 0xffdd;
  const isNote = (marker >= 0xffe0 && marker <= 0xffef) || marker === 0xfffe;
  return !isTable && !isNote;
}

// RFC 9649.
function readWebp(view: DataView, size: number): StillReport | null {
  if (latinText(view, 0, 4) !== "RIFF" || latinText(view, 8, 4) !== "WEBP") return null;
  if (view.getUint32(4, true) + 8 !== size) return null;
  const isPlain = latinText(view, 12, 4) === "VP8 ";
  const isProfiled = latinText(view, 12, 4) === "VP8X" && view.getUint8(20) === 0x20;
  const at = isPlain ? 12 : isProfiled ? afterProfile(view) : -1;
  if (at < 0 || latinText(view, at, 4) !== "VP8 " || at + 8 + view.getUint32(at + 4, true) > size)
    return null;
  // RFC 6386, 9.1: a keyframe, and its start code.
  const isKey = (view.getUint8(at + 8) & 1) === 0 && view.getUint16(at + 11) === 0x9d01;
  if (!isKey || view.getUint8(at + 13) !== 0x2a) return null;
  const [width, height] = [at + 14, at + 16].map((place) => view.getUint16(place, true) & 0x3fff);
  const color = { pix_fmt: "yuv420p", color_range: "tv", color_space: "bt470bg" };
  return width && height ? reportOf("webp_pipe", { codec_name: "webp", width, height, ...color }, {}) : null;
}

function afterProfile(view: DataView): number {
  if (latinText(view, 30, 4) !== "ICCP") return -1;
  const length = view.getUint32(34, true);
  return 38 + length + (length & 1);
}

/** Returns a report on a still. */
export function reportOf(format_name: string, stream: object, frame: object): StillReport {
  return {
    format: { format_name },
    streams: [{ index: 0, codec_type: "video", ...stream }],
    frames: [{ media_type: "video", interlaced_frame: 0, ...frame }],
  };
}
