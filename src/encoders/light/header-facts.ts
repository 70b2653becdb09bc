import { type PictureFacts, readHeif, text } from "../../probe/heif.ts";
import { viewOf } from "../../util/bytes.ts";

/** Facts from the first bytes of an image, in ffprobe's terms. */
export type HeaderFacts = PictureFacts;

/** Parses the header of a JPEG, PNG, APNG, GIF, WebP, BMP, AVIF or HEIC; null for anything else. */
export function readHeaderFacts(head: Uint8Array): HeaderFacts | null {
  const view = viewOf(head);
  for (const read of [readJpeg, readPng, readGif, readWebp, readBmp, readHeif]) {
    try {
      const facts = read(view);
      if (facts && facts.width > 0 && facts.height > 0) return facts;
    } catch (thrown) {
      // A RangeError means that the header extends beyond `head`.
      if (!(thrown instanceof RangeError)) throw thrown;
    }
  }
  return null;
}

// ITU-T T.81, B.2.2: the size is in the frame header, of which there are several types.
function readJpeg(view: DataView): HeaderFacts | null {
  if (view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    if (marker < 0xc0 || marker > 0xcf || [0xc4, 0xc8, 0xcc].includes(marker)) continue;
    const size = { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    const pix_fmt = view.getUint8(at + 9) === 1 ? "gray" : "yuvj420p";
    return { format_name: "jpeg_pipe", codec_name: "mjpeg", ...size, frames: 1, pix_fmt };
  }
  return null;
}

// W3C PNG, 11.2.2: color types.
const PNG_PIXELS: Readonly<Record<number, string>> = {
  0: "gray",
  2: "rgb24",
  3: "pal8",
  4: "ya8",
  6: "rgba",
};

function readPng(view: DataView): HeaderFacts | null {
  if (view.getUint32(0) !== 0x89504e47 || text(view, 12, 4) !== "IHDR") return null;
  const pix_fmt = PNG_PIXELS[view.getUint8(25)] ?? "rgba";
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  // acTL precedes the first IDAT and holds the number of frames.
  for (let at = 33; at + 12 <= view.byteLength; at += 12 + view.getUint32(at)) {
    const kind = text(view, at + 4, 4);
    if (kind === "acTL")
      return { format_name: "apng", codec_name: "apng", ...size, frames: view.getUint32(at + 8), pix_fmt };
    if (kind === "IDAT") break;
  }
  return { format_name: "png_pipe", codec_name: "png", ...size, frames: 1, pix_fmt };
}

function readGif(view: DataView): HeaderFacts | null {
  if (!/^GIF8[79]a$/.test(text(view, 0, 6))) return null;
  const size = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  // Counting frames would need the whole file; the loop extension identifies an animation.
  const head = text(view, 0, Math.min(view.byteLength, 1024));
  return {
    format_name: "gif",
    codec_name: "gif",
    ...size,
    frames: head.includes("NETSCAPE2.0") ? 2 : 1,
    pix_fmt: "bgra",
  };
}

// RFC 9649: WebP container.
function readWebp(view: DataView): HeaderFacts | null {
  if (text(view, 0, 4) !== "RIFF" || text(view, 8, 4) !== "WEBP") return null;
  const common = { format_name: "webp_pipe", codec_name: "webp" };
  const kind = text(view, 12, 4);
  if (kind === "VP8 ") {
    const size = { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    return { ...common, ...size, frames: 1, pix_fmt: "yuv420p" };
  }
  if (kind === "VP8L") {
    const bits = view.getUint32(21, true);
    const size = { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    return { ...common, ...size, frames: 1, pix_fmt: "argb" };
  }
  if (kind !== "VP8X") return null;
  const flags = view.getUint8(20);
  const uint24 = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
  return {
    ...common,
    width: uint24(24) + 1,
    height: uint24(27) + 1,
    frames: flags & 0x02 ? Math.max(2, countFrames(view)) : 1,
    pix_fmt: flags & 0x10 ? "yuva420p" : "yuv420p",
  };
}

function countFrames(view: DataView): number {
  let frames = 0;
  for (let at = 12; at + 8 <= view.byteLength; ) {
    if (text(view, at, 4) === "ANMF") frames++;
    const size = view.getUint32(at + 4, true);
    at += 8 + size + (size & 1);
  }
  return frames;
}

function readBmp(view: DataView): HeaderFacts | null {
  if (text(view, 0, 2) !== "BM" || view.getUint32(14, true) < 40) return null;
  const size = { width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) };
  return { format_name: "bmp_pipe", codec_name: "bmp", ...size, frames: 1 };
}
