import type { ByteReader } from "../runs/ports.ts";
import { latinText, readOr, viewOf } from "../util/bytes.ts";
import { findOrientation, isTiff, readTiffPicture } from "./exif.ts";

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

const LARGE_HEAD = 4096;

/**
 * Returns a report like ffprobe's from the header of a still that is too large to decode, in a format that ffprobe describes only by
 * decoding: JPEG 2000, JPEG-LS, TIFF, DPX, EXR, FITS, PCX, PNM, QOI, SGI, Sun raster and XWD. Null for other files, and for headers that
 * it cannot read. Rejects as the reader does.
 */
export async function readLargeStill(reader: ByteReader, signal: AbortSignal): Promise<StillReport | null> {
  const head = await reader.read({ start: 0, end: LARGE_HEAD }, signal);
  if (isTiff(head)) {
    const picture = await readTiffPicture(reader, signal);
    return picture && reportOf("tiff_pipe", { codec_name: "tiff", ...picture }, {});
  }
  const view = viewOf(head);
  const isBoxed = view.byteLength >= 12 && latinText(view, 4, 4) === "jP  ";
  const codestream = isBoxed ? await findCodestream(reader, signal) : { view, palette: false };
  const readers = [
    ...[readDpx, readExr, readFits, readJpegLs, readPcx, readPnm, readQoi, readSgi, readSunRaster, readXwd],
  ];
  return readOr(null, () => {
    const jpeg2000 = codestream && readJpeg2000(codestream);
    if (jpeg2000 || isBoxed) return jpeg2000;
    for (const read of readers) {
      const report = read(view);
      if (report) return report;
    }
    return null;
  });
}

interface Codestream {
  view: DataView;
  palette: boolean;
}

const MAX_BOXES = 32;

// ISO/IEC 15444-1, annex I.
async function findCodestream(reader: ByteReader, signal: AbortSignal): Promise<Codestream | null> {
  let palette = false;
  for (let [at, boxes] = [0, 0]; at + 8 < reader.size && boxes < MAX_BOXES; boxes++) {
    const view = viewOf(await reader.read({ start: at, end: at + LARGE_HEAD }, signal));
    if (view.byteLength < 16) return null;
    const [size, name] = [view.getUint32(0), latinText(view, 4, 4)];
    const header = size === 1 ? 16 : 8;
    if (name === "jp2c") return { view: new DataView(view.buffer, view.byteOffset + header), palette };
    if (name === "jp2h")
      palette = latinText(view, header, Math.min(size, view.byteLength) - header).includes("pclr");
    at += size === 1 ? Number(view.getBigUint64(8)) : Math.max(header, size);
  }
  return null;
}

const GRAY_AND_COLORS = ["gray", "ya8", "rgb24", "rgba"] as const;
const DEEP = ["gray16le", "ya16le", "rgb48le", "rgba64le"] as const;

// ISO/IEC 15444-1, A.5.1: the markers SOC and SIZ.
function readJpeg2000({ view, palette }: Codestream): StillReport | null {
  if (view.getUint32(0) !== 0xff4fff51) return null;
  const width = view.getUint32(8) - view.getUint32(16);
  const height = view.getUint32(12) - view.getUint32(20);
  const components = view.getUint16(40);
  const bits = (view.getUint8(42) & 0x7f) + 1;
  const deep = bits > 8 ? `${bits > 12 ? 16 : bits}le` : "";
  const [across, down] = components >= 3 ? [view.getUint8(46), view.getUint8(47)] : [1, 1];
  const halved = across === 2 ? `yuv${down === 2 ? 420 : 422}p${deep}` : null;
  const pix_fmt = palette ? "pal8" : (halved ?? (bits > 8 ? DEEP : GRAY_AND_COLORS)[components - 1]);
  return stillOf("j2k_pipe", "jpeg2000", width, height, pix_fmt);
}

// SMPTE ST 268-1.
function readDpx(view: DataView): StillReport | null {
  const magic = latinText(view, 0, 4);
  if (magic !== "SDPX" && magic !== "XPDS") return null;
  const little = magic === "XPDS";
  const [descriptor, bits] = [view.getUint8(800), view.getUint8(803)];
  const order = little ? "le" : "be";
  const names: Readonly<Record<string, string>> = {
    "6 8": "gray",
    "50 8": "rgb24",
    "51 8": "rgba",
    "50 10": "gbrp10le",
    "50 12": "gbrp12le",
    "50 16": `rgb48${order}`,
    "51 16": `rgba64${order}`,
  };
  const [width, height] = [view.getUint32(772, little), view.getUint32(776, little)];
  return stillOf("dpx_pipe", "dpx", width, height, names[`${descriptor} ${bits}`]);
}

// openexr.com, "The OpenEXR File Layout": an attribute is a name, a type, a length and a value.
function readExr(view: DataView): StillReport | null {
  if (view.getUint32(0, true) !== 0x01312f76) return null;
  const textAt = (at: number) => {
    let end = at;
    while (view.getUint8(end) !== 0) end++;
    return latinText(view, at, end - at);
  };
  let [size, channels]: [{ width: number; height: number } | null, string[]] = [null, []];
  for (let at = 8; view.getUint8(at) !== 0; ) {
    const name = textAt(at);
    const type = textAt(at + name.length + 1);
    const start = at + name.length + type.length + 6;
    const length = view.getUint32(start - 4, true);
    if (name === "displayWindow") {
      const [left = 0, top = 0, right = 0, bottom = 0] = [0, 4, 8, 12].map((to) =>
        view.getInt32(start + to, true),
      );
      size = { width: right - left + 1, height: bottom - top + 1 };
    } else if (name === "channels") {
      for (let entry = start; view.getUint8(entry) !== 0; ) {
        const channel = textAt(entry);
        // Half and float channels decode alike; integer ones do not.
        if (view.getUint32(entry + channel.length + 1, true) === 0) return null;
        channels = [...channels, channel];
        entry += channel.length + 17;
      }
    }
    at = start + length;
  }
  const pixels: Readonly<Record<string, string>> = { Y: "gray", BGR: "gbrp", ABGR: "gbrap" };
  const name = pixels[channels.join("")];
  return size && name ? stillOf("exr_pipe", "exr", size.width, size.height, `${name}f32le`) : null;
}

// FITS Standard 4.0: a header consists of cards of 80 characters, and colors are a third axis.
function readFits(view: DataView): StillReport | null {
  const text = latinText(view, 0, view.byteLength);
  if (!text.startsWith("SIMPLE  =")) return null;
  const card = (name: string) =>
    new RegExp(`^(?:.{80})*?${name.padEnd(8)}= *'?([\\w-]+)`, "s").exec(text)?.[1];
  const [bits, axes, width, height, planes] = [
    ...["BITPIX", "NAXIS", "NAXIS1", "NAXIS2", "NAXIS3"].map((name) => Number(card(name))),
  ];
  const colors = axes === 3 && card("CTYPE3") === "RGB" ? planes : axes === 2 ? 1 : 0;
  const names: Readonly<Record<number, string>> = { 1: "gray", 3: "gbrp", 4: "gbrap" };
  const name = names[colors ?? 0];
  const pixels = name && (bits === 8 ? name : bits === 16 || colors === 1 ? `${name}16le` : undefined);
  const report = stillOf("fits", "fits", width ?? 0, height ?? 0, pixels);
  if (report) Object.assign(report.streams[0] ?? {}, { avg_frame_rate: "1/1" });
  return report;
}

// ITU-T T.87, annex C: the frame header of JPEG-LS.
function readJpegLs(view: DataView): StillReport | null {
  if (view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; view.getUint16(at) !== 0xffda; at += 2 + view.getUint16(at + 2)) {
    if (view.getUint16(at) !== 0xfff7) continue;
    const [bits, components] = [view.getUint8(at + 4), view.getUint8(at + 9)];
    const names: Readonly<Record<string, string>> = { 1: "gray", 3: "rgb24", "1 deep": "gray16le" };
    const pixels = names[`${components}${bits > 8 ? " deep" : ""}`];
    const report = stillOf("jpegls_pipe", "jpegls", view.getUint16(at + 7), view.getUint16(at + 5), pixels);
    if (report) Object.assign(report.streams[0] ?? {}, { bits_per_raw_sample: `${bits}` });
    return report;
  }
  return null;
}

// ZSoft PCX, versions 2 to 5.
function readPcx(view: DataView): StillReport | null {
  if (view.getUint8(0) !== 10 || view.getUint8(1) > 5 || view.getUint8(2) !== 1) return null;
  const width = view.getUint16(8, true) - view.getUint16(4, true) + 1;
  const height = view.getUint16(10, true) - view.getUint16(6, true) + 1;
  const isColor = view.getUint8(3) === 8 && view.getUint8(65) === 3;
  return stillOf("pcx_pipe", "pcx", width, height, isColor ? "rgb24" : "pal8");
}

/** Returns a report like ffprobe's on a PPM, PGM or PBM from its first bytes; null for other files. */
export function readPnm(view: DataView): StillReport | null {
  // netpbm.sourceforge.net/doc: a comment may stand between the numbers.
  const text = latinText(view, 0, Math.min(512, view.byteLength)).replace(/#[^\n]*\n/g, " ");
  const [, kind, width, height, max] = /^P([1-6])\s+(\d+)\s+(\d+)\s+(\d+)?/.exec(text) ?? [];
  if (!kind) return null;
  const name = (["pbm", "pgm", "ppm"] as const)[(Number(kind) - 1) % 3];
  const deep = Number(max) > 255;
  const pixels = { pbm: "monow", pgm: deep ? "gray16le" : "gray", ppm: deep ? "rgb48le" : "rgb24" } as const;
  const report = name && stillOf(`${name}_pipe`, name, Number(width), Number(height), pixels[name]);
  if (report && name === "pbm") Object.assign(report.streams[0] ?? {}, { bits_per_raw_sample: "1" });
  return report ?? null;
}

// qoiformat.org.
function readQoi(view: DataView): StillReport | null {
  if (latinText(view, 0, 4) !== "qoif") return null;
  const pix_fmt = view.getUint8(12) === 4 ? "rgba" : "rgb24";
  return stillOf("qoi_pipe", "qoi", view.getUint32(4), view.getUint32(8), pix_fmt);
}

// The SGI image file format, 1.00.
function readSgi(view: DataView): StillReport | null {
  if (view.getUint16(0) !== 474) return null;
  const [bytes, channels] = [view.getUint8(3), view.getUint16(10)];
  const names: Readonly<Record<string, string>> = {
    "1 1": "gray",
    "1 3": "rgb24",
    "1 4": "rgba",
    "2 1": "gray16be",
    "2 3": "rgb48be",
    "2 4": "rgba64be",
  };
  return stillOf("sgi_pipe", "sgi", view.getUint16(6), view.getUint16(8), names[`${bytes} ${channels}`]);
}

// Sun's rasterfile(5).
function readSunRaster(view: DataView): StillReport | null {
  if (view.getUint32(0) !== 0x59a66a95) return null;
  const [depth, type, maps] = [view.getUint32(12), view.getUint32(20), view.getUint32(28)];
  const isRgb = type === 3;
  const names: Readonly<Record<number, string>> = {
    1: "monow",
    8: maps > 0 ? "pal8" : "gray",
    24: isRgb ? "rgb24" : "bgr24",
    32: isRgb ? "0rgb" : "0bgr",
  };
  return stillOf("sunrast_pipe", "sunrast", view.getUint32(4), view.getUint32(8), names[depth]);
}

// X11/XWDFile.h, version 7.
function readXwd(view: DataView): StillReport | null {
  if (view.getUint32(4) !== 7 || view.getUint32(8) !== 2) return null;
  const big = view.getUint32(28) === 1;
  const [bits, kind, red] = [view.getUint32(44), view.getUint32(52), view.getUint32(56)];
  const gray: Readonly<Record<number, string>> = { 1: "monow", 8: "gray" };
  // The keys are the bits per pixel and the mask of its red part.
  const colors: Readonly<Record<string, readonly [big: string, little: string]>> = {
    "24 ff0000": ["rgb24", "bgr24"],
    "24 ff": ["bgr24", "rgb24"],
    "32 ff000000": ["rgba", "abgr"],
    "32 ff0000": ["argb", "bgra"],
    "32 ff00": ["bgra", "argb"],
    "32 ff": ["abgr", "rgba"],
  };
  const color = colors[`${bits} ${red.toString(16)}`]?.[big ? 0 : 1];
  const pixels = kind < 2 ? gray[bits] : kind < 4 ? (bits === 8 ? "pal8" : undefined) : color;
  return stillOf("xwd_pipe", "xwd", view.getUint32(16), view.getUint32(20), pixels);
}

function stillOf(
  format_name: string,
  codec_name: string,
  width: number,
  height: number,
  pix_fmt: string | undefined,
): StillReport | null {
  if (!(width > 0 && height > 0 && pix_fmt)) return null;
  return reportOf(format_name, { codec_name, width, height, pix_fmt }, {});
}
